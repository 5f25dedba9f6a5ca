#!/bin/bash
# Prints how fast lockbench is beside redis-benchmark, a bare go-redis loop and porcupine,
# all of them taking turns, medians of ROUNDS, and keeps that in bench/RESULTS.md.
# Needs redis-server, redis-benchmark and GNU time, 24 MB of disk and some minutes.
#
#   bench/run.sh
#   ROUNDS=1 LENGTHS=10000:0.02 NOTE="a soak beside it" RESULTS=/dev/null bench/run.sh -duration 200ms
#   ROUNDS=1 LENGTHS="10000000:0.3 100000000:0" SEARCH=0 RESULTS=/dev/null bench/run.sh
#
# ROUNDS, LENGTHS (of histories of one lock, each with the share of unknown outcomes), SEARCH (seconds that porcupine is given, which
# takes much memory; 0 leaves it out) and NOTE (what else the machine did) may be set; arguments go to bench/pairs.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-5}
search=${SEARCH:-20}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
go build -o "$place/" ./cmd/lockbench ./bench/generate ./bench/searched

# machine describes where and when.
machine() {
  echo "- $(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD)$(git diff --quiet HEAD || echo ' and changes')"
  echo "- $(getconf _NPROCESSORS_ONLN) cores$(sed -n 's/^model name[^:]*: */, /p' /proc/cpuinfo 2>/dev/null | head -n 1), $(uname -sr)"
  echo "- $(go version | cut -d' ' -f3), $(redis-server --version | cut -d' ' -f1-3)"
  echo "- load average at the start: $(uptime | sed 's/.*average[s]*: //')${NOTE:+; $NOTE}"
}

# timed runs a command and prints its seconds and its peak of memory in MB; what it says
# goes to a file.
timed() {
  command time -q -f '%e %M' -o "$place/time" "$@" >"$place/said"
  awk '{printf "%s %.0f\n", $1, $2/1024}' "$place/time"
}

median() { sort -n | awk '{v[NR]=$1} END {print v[int((NR+1)/2)]}'; }

# judged prints what check and porcupine took for histories of one lock.
judged() {
  printf '%10s %8s %10s %9s %14s %13s %10s %10s\n' operations unknown check-s check-MB porcupine-s porcupine-MB says times
  for size in ${LENGTHS:-100000:0 1000000:0 1000:0.02 100000:0.02}; do
    ops=${size%:*} unknown=${size#*:}
    "$place/generate" -ops "$ops" -unknown "$unknown" -keys 1 -clients 50 "$place/h.lbh" >/dev/null
    : >"$place/check"
    : >"$place/porcupine"
    for ((round = 0; round < rounds; round++)); do
      timed "$place/lockbench" check "$place/h.lbh" >>"$place/check"
      [ "$search" = 0 ] || timed "$place/searched" -timeout "${search}s" "$place/h.lbh" >>"$place/porcupine"
    done
    c=$(median <"$place/check")
    if [ "$search" = 0 ]; then
      printf '%10s %8s %10s %9s\n' "$ops" "$unknown" "$c" "$(cut -d' ' -f2 "$place/check" | median)"
      continue
    fi
    says=$(tail -n 1 "$place/said") p=$(median <"$place/porcupine")
    printf '%10s %8s %10s %9s %14s %13s %10s %10s\n' "$ops" "$unknown" "$c" "$(cut -d' ' -f2 "$place/check" | median)" \
      "$p" "$(cut -d' ' -f2 "$place/porcupine" | median)" "${says:-nothing}" "$(awk -v c="$c" -v p="$p" 'BEGIN {printf "%.1f", p/c}')"
  done
}

{
  echo "# One run of bench/run.sh"
  echo
  machine
  echo
  echo "Pairs of SET NX PX and compare-and-delete; a ratio is the median of $rounds rounds' ratios. \`lockbench\` records and judges"
  echo "while it runs, \`unrecorded\` is its driver alone; \`batched\` is lua-token/batched, its clients in one process, recorded and judged, too."
  echo
  echo '```'
  bash bench/pairs.sh -rounds "$rounds" "${@}"
  echo '```'
  echo
  echo "\`lockbench check\`, all guarantees, beside porcupine, given $search s for exclusion alone: 50 clients on one lock, medians of $rounds."
  echo
  echo '```'
  judged
  echo '```'
} | tee "$place/results"
cp "$place/results" "${RESULTS:-bench/RESULTS.md}"
