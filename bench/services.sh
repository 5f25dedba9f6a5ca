#!/bin/bash
# Runs a sound and a broken lock of each service under the same workload, and writes the table "Redis or the
# database?" of docs/choosing.md: speed, connections, and what the faults of the service break. DIR is a
# folder that adapters/install filled, for the services whose clients are adapters. Exits with 1 if a
# sound lock is accused or a broken one is not caught. Needs the servers of all services, python3, and a JRE.
#
#   bench/services.sh DIR                  a minute of faults for each lock, about half an hour
#   FAULTS=15m bench/services.sh DIR       a quarter of an hour of faults for each sound lock
#   FAULTS=15m BESIDE=6 bench/services.sh DIR  all of them at once, on a machine that they load
#   PAGE=no bench/services.sh DIR          writes no page
set -euo pipefail
[ $# = 1 ] || { echo "usage: bench/services.sh DIR" >&2; exit 2; }
libraries=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
go run ./bench/services -faults "${FAULTS:-1m}" -rounds "${ROUNDS:-3}" -beside "${BESIDE:-1}" -page "${PAGE:-docs/choosing.md}" "$libraries"
