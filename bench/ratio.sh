#!/bin/bash
# Tells whether lockbench NEW is faster or slower than lockbench OLD, two binaries that take
# turns: pairs of acquire and release, check of a history, and exploration. Needs redis-server
# and 220 MB of disk; a quarter of an hour of two cores. Exits with 2 where a binary fails.
#
#   bench/ratio.sh OLD NEW
#   ROWS=check,explore-faults OPS=1000000 PAIRS=9 bench/ratio.sh OLD NEW
#
# PAIRS is how many turns each has, OPS how long the history is, ROWS are rows or verbs (all by
# default). With ROWS=check an interval takes 7 pairs, with one row 6, with all 9.
set -euo pipefail
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
go -C "$(dirname "$0")/.." build -o "$built/ratio" ./bench/ratio
"$built/ratio" ${PAIRS:+"-pairs=$PAIRS"} ${OPS:+"-ops=$OPS"} ${ROWS:+"-rows=$ROWS"} "$@"
echo "load average at the end: $(uptime | sed 's/.*average[s]*: //')"
