#!/bin/sh
# Compares lockbench, recording and checking, with redis-benchmark and with a bare
# go-redis loop: the same two commands, 50 clients, one key per client, taking turns on
# one private Redis. Beside them lua-token/batched, whose clients live in one process and
# share its connection.
# Arguments go to bench/pairs, such as -rounds 9.
set -eu
cd "$(dirname "$0")/.."

clients=50
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
go build -o "$built/" ./cmd/lockbench ./bench/pairs

# Two more subjects, which are commands that write a result with grants_per_s to {out}.
options="-q --server {redis} --workload mutex --key-choice own --clients $clients --hold 0s --think 0s \
  --stallers 0 --duration 2s --warmup 200ms --history $built/history --out json={out}"

"$built/pairs" -clients "$clients" -subject "lockbench=${LOCKBENCH:-$built/lockbench run --design lua-token/strategy $options}" \
  -subject "batched=$built/lockbench run --design lua-token/batched --processes 1 $options" "$@"
