#!/bin/bash
# How often compare shows a difference between a design and itself, and how often one between
# it and the same design with calls a fifth slower: 20 comparisons of each kind, of 12 short runs
# of either side against a private redis-server; and how small a difference they could see. It fails
# where more than one of the first kind do, or fewer than 19 of the second. About five minutes;
# COMPARISONS and RUNS change it.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v redis-server >/dev/null || { echo "redis-server is not in PATH" >&2; exit 1; }
go test ./cmd/lockbench -run '^TestCompareReal$' -count=1 -timeout 1h -v \
  -comparisons "${COMPARISONS:-20}" -rounds "${RUNS:-12}" | grep -v '^=== '
