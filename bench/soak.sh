#!/bin/sh
# Runs a design for so many minutes and prints, once a minute, the resident memory of
# lockbench and the room that its temporary history takes: both are to stay flat.
#
#   bench/soak.sh 60
#   bench/soak.sh 10 --fault crash,p=0.0005
set -eu
minutes=${1:?minutes}
shift
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
go build -o "$place/lockbench" ./cmd/lockbench
mkdir "$place/tmp"
TMPDIR=$place/tmp "$place/lockbench" run -q --design lua-token/strategy --clients 32 --keys 64 \
  --hold 200us --think 2ms --wait 20ms --ttl 500ms --duration "${minutes}m" "$@" >"$place/report" 2>&1 &
run=$!
minute=0
while kill -0 "$run" 2>/dev/null; do
  echo "minute $minute: $(ps -o rss= -p "$run" | tr -d ' ') KiB of memory, $(du -sk "$place/tmp" | cut -f1) KiB of history"
  minute=$((minute + 1))
  second=0
  while [ "$second" -lt 60 ] && kill -0 "$run" 2>/dev/null; do
    sleep 1
    second=$((second + 1))
  done
done
code=0
wait "$run" || code=$?
cat "$place/report"
exit "$code"
