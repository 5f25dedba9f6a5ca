#!/bin/bash
# Tests sound locks and mutants with locktest.Try, in its short form, with leases of 50 ms to 1 s and
# busy loops beside them, all under nice -n 19. Prints a table of the sound locks, with how many were
# accused, and one of the mutants, with how many were caught. Fails where a sound lock is accused, and keeps
# its histories in a folder that it names, or a mutant of eight runs or more is never caught. Needs redis-server.
#
#   bench/door.sh                                   60 runs of sound locks beside eight busy loops
#   RUNS=1000 BESIDE=16 MOST=20m bench/door.sh
#
# RUNS is how many runs of sound locks there are (a tenth as many of mutants are added), BESIDE how many
# at a time, LOOPS how many busy loops, MOST the time after which no more run begins.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(mktemp -d)
busy=()
end() {
	[ "${#busy[@]}" = 0 ] || kill "${busy[@]}" 2>/dev/null || true
	rm -rf "$built"
}
trap end EXIT
go build -o "$built/door" ./bench/door
for ((n = 0; n < ${LOOPS:-8}; n++)); do
	nice -n 19 bash -c 'while :; do :; done' &
	busy+=($!)
done
nice -n 19 "$built/door" -runs "${RUNS:-60}" -beside "${BESIDE:-8}" -most "${MOST:-1h}" -keep "${KEEP:-$(mktemp -d)/accused}"
