#!/bin/bash
# Has locks, sound ones and mutants, stand still: lockbench, their server, or both, for 0.3 to 3 s at leases
# of 50 ms to 2 s. First in virtual time, by made histories (internal/synthetic) and by explorations, then for real,
# by SIGSTOP, with private servers (bench/campaign). Prints three tables. It fails where a sound lock is
# accused, where fewer than 95 % of the mutants are caught by which two were inside, and where nothing was
# measured. A run that a slow machine does not finish fails nothing. Needs redis-server for the second part.
#
#   bench/campaign.sh                       three minutes: 1,500 virtual histories and 24 real runs
#   STALLED=20000 EXPLORED=300 RUNS=750 BESIDE=4 bench/campaign.sh
#
# STALLED is how many virtual histories of a sound lock are judged (and a fifth as many of each mutant),
# EXPLORED how many schedules of each lock, scenario and kind of standstill (four times as many of each mutant),
# RUNS how many real runs there are, one in three of a mutant, BESIDE how many at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
echo "| lock | stands still | histories | standstills | two inside | accused | accused if nobody had noticed |"
echo "|---|---|---|---|---|---|---|"
go test ./internal/synthetic -count=1 -timeout 2h -run 'TestSoundLockThatStandsStill|TestMutantsThatStandStill' -stalled "${STALLED:-1500}" -table -v >"$built/virtual" ||
	{ grep -v '^=== ' "$built/virtual"; exit 1; }
grep '^|' "$built/virtual"
echo
echo "| locks | stands still | schedules | standstills | two inside | within validity | accused | of those within validity |"
echo "|---|---|---|---|---|---|---|---|"
go test ./internal/explore -count=1 -timeout 2h -run 'TestSoundLocksThatStandStill|TestMutantsThatStandStill' -stalled "${EXPLORED:-30}" -table -v >"$built/explored" ||
	{ grep -v '^=== ' "$built/explored"; exit 1; }
grep '^|' "$built/explored"
echo
go build -o "$built/campaign" ./bench/campaign
"$built/campaign" -runs "${RUNS:-24}" -beside "${BESIDE:-2}" -seed "${SEED:-1}"
