#!/bin/bash
# Runs the tests again and again beside busy loops, and prints how long each run took and
# what failed. Exits 1 when any run failed. Test results are not taken from the cache, and
# failing runs leave their output in a folder that it names.
#
#   bench/tests.sh                   20 runs beside two busy loops
#   RUNS=3 LOOPS=0 bench/tests.sh -short
#
# RUNS and LOOPS may be set; arguments go to go test.
set -uo pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:-20} loops=${LOOPS:-2} failed=0
place=$(mktemp -d)
busy=()
end() { [ "${#busy[@]}" = 0 ] || kill "${busy[@]}" 2>/dev/null; }
trap end EXIT
for ((n = 0; n < loops; n++)); do
  while :; do :; done &
  busy+=($!)
done
for ((run = 1; run <= runs; run++)); do
  begun=$SECONDS
  if go test -count=1 "$@" ./... >"$place/$run" 2>&1; then
    verdict=passed
  else
    verdict=FAILED failed=$((failed + 1))
    grep -E '^(--- FAIL|\s+--- FAIL|FAIL|panic)' "$place/$run" | head -20
  fi
  echo "run $run of $runs: $verdict, $((SECONDS - begun)) s, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null)"
  [ "$verdict" = FAILED ] || rm "$place/$run"
done
echo "$((runs - failed)) of $runs runs passed, beside $loops busy loops"
[ "$failed" = 0 ] || { echo "their output: $place"; exit 1; }
rmdir "$place"
