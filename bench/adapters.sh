#!/bin/bash
# Measures, checks and runs the adapters that come with lockbench, without and with faults, and writes
# the table of docs/libraries.md with its evidence. DIR is a folder that adapters/install filled; a
# language that is not installed there is named as not run. Takes half an hour. Needs redis-server.
#
#   bench/adapters.sh DIR
set -euo pipefail
[ $# = 1 ] || { echo "usage: bench/adapters.sh DIR" >&2; exit 2; }
libraries=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
go run ./bench/adapters "$libraries"
