#!/bin/bash
# Tells whether lockbench NEW is faster or slower than lockbench OLD, two binaries that take
# turns: pairs of acquire and release, check of a history, and exploration. Needs redis-server
# and 11 MB of disk; a quarter of an hour of two cores. Exits with 2 where a binary fails.
#
#   bench/ratio.sh OLD NEW
#   ROWS=check,explore-faults ROUNDS=100 bench/ratio.sh OLD NEW
#
# ROUNDS is how many rounds there are, of two turns each (40), OPS how long the history is (1000000),
# ROWS are rows or verbs (all). NEW does at least as much of OLD as the lower end of an interval says,
# which is 1 to 2 % from the ratio on a quiet machine. With ROWS=check an interval takes 7 rounds,
# with one row 6, with all 9.
set -euo pipefail
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
go -C "$(dirname "$0")/.." build -o "$built/ratio" ./bench/ratio
"$built/ratio" ${ROUNDS:+"-rounds=$ROUNDS"} ${OPS:+"-ops=$OPS"} ${ROWS:+"-rows=$ROWS"} "$@"
echo "load average at the end: $(uptime | sed 's/.*average[s]*: //')"
