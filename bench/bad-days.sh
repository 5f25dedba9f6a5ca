#!/bin/bash
# Gives lockbench bad days, and counts what goes wrong that must not: a run that was cut passes, a sound lock is accused, what
# could be written is lost, a process, a folder or a key without an end stays, a call hangs, crashes, or takes more than 512 MB.
# Prints a table, and fails where one of the counts is not zero. Linux only. Needs redis-server and redis-cli.
#
#   bench/bad-days.sh                                              four minutes
#   KILLS=1000 SIGNALS=10 MUTATIONS=20000 TROUBLES=20 bench/bad-days.sh   two hours
#
# KILLS is how many times lockbench, or a child of its, is killed, SIGNALS how many times each signal is sent to each verb,
# MUTATIONS how many damaged files are read, TROUBLES how many times each trouble happens to a server of the user's.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
go build -o "$built" ./cmd/lockbench ./bench/baddays
"$built/baddays" -lockbench "$built/lockbench" -kills "${KILLS:-40}" -signals "${SIGNALS:-1}" -mutations "${MUTATIONS:-300}" -troubles "${TROUBLES:-2}" -seed "${SEED:-1}"
