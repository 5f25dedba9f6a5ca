#!/bin/bash
# How long check takes for histories of 1, 10 and 100 million operations, of which 0, 5 and
# 30 % have an unknown outcome, how much memory, and whether it finds what was planted.
# Needs GNU time, and 1.3 GB of disk; LENGTHS and SHARES narrow it down.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/" ./cmd/lockbench ./bench/generate
printf '%12s %8s %9s %9s %9s %8s\n' operations unknown seconds cpu-s peak-MB found
for ops in ${LENGTHS:-1000000 10000000 100000000}; do
  for share in ${SHARES:-0 0.05 0.3}; do
    "$dir/generate" -ops "$ops" -violations 3 -seed 5 -unknown "$share" "$dir/h.lbh" >"$dir/planted"
    code=0
    command time -f '%e %U %S %M' -o "$dir/time" "$dir/lockbench" check "$dir/h.lbh" >"$dir/shown" || code=$?
    [ "$code" = 1 ] || { echo "check exits $code, want 1" >&2; exit 1; }
    found=$(awk '/^ *exclusion, nothing goes wrong/ {getline; getline; print $1; exit}' "$dir/shown")
    tail -n 1 "$dir/time" | awk -v o="$ops" -v u="$share" -v f="${found:-?}" '{printf "%12d %8s %9.1f %9.1f %9.0f %8s\n", o, u, $1, $2+$3, $4/1024, f}'
    rm -f "$dir/h.lbh"
  done
done
