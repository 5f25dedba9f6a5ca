#!/bin/bash
# Tests versions of lock libraries with locktest, each in a module of its own, and prints a table of the bugs that are
# caught and missed. Needs redis-server, PostgreSQL and etcd (Debian: redis-server, postgresql, etcd-server), and the
# modules of the libraries. Fails where one cannot be built or tested. VERBOSE=1 shows what the tests print.
#
#   bench/libraries.sh                           all
#   bench/libraries.sh redislock redsync@v4.12   those
set -euo pipefail
cd "$(dirname "$0")/.."
go run ./bench/libraries "$@"
