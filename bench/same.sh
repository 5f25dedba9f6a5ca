#!/bin/bash
# Judges the corpus with two builds of lockbench, and prints what differs: for each history
# and cell the verdict, whether it is claimed, violations, those that count against the
# claims, exposure, and the clearest violation's key and clients; for each history the exit
# code. The corpus is bench/corpus and the replays of internal/explore/testdata.
#
#   bench/same.sh OLD NEW [MAPPING]
#   bench/same.sh /tmp/old/lockbench /tmp/new/lockbench bench/same.map
#   CORPUS=/tmp/mine bench/same.sh bench/corpus/golden.txt /tmp/new/lockbench
#
# OLD and NEW are binaries (go build -o FILE ./cmd/lockbench), or a golden file in place of
# one. CORPUS is another folder that bench/corpus.sh recorded. Exit codes: 0 nothing differs,
# 1 something does, 2 bad input, or nothing was compared.
#
# MAPPING translates names of OLD to those of NEW, a line each; # begins a comment. A name is
# a guarantee of before there were cells, a cell, or a pattern:
#
#   overrun exclusion@*+outlived  what OLD calls overrun are in NEW the cells of exclusion
#                                 whose conditions contain outlived, whatever else
#   exclusion exclusion@*!outlived!skew   those that contain neither; @* alone: all
#   cancel -                      a name that no longer exists: not compared
#   - answers@*                   what is new: not compared
#   extend lease                  two of OLD that are one of NEW: verdicts by the gravest
#   no-early-expiry lease         (broken, hazard, held, untested, n/a), numbers by their sum
#   restart exclusion@state-loss  one of OLD that is two of NEW, likewise
#   restart fencing@state-loss
#   skew skew verdict,claim       what is compared: some of verdict claim violations against
#                                 exposure counterexample
#   * * verdict,violations        the same for all that do not say themselves
#   verdict hazard broken         a verdict that has another name
#
# Where a line has two different names and a history no finding of one, nothing was met
# there: untested, zero. Names without a line are compared as they are. A name that its side
# does not know is an error, and so is a cell that two lines match. Several lines that share
# a name are one; differences are then called by the names of OLD.
set -euo pipefail
[ $# = 2 ] || [ $# = 3 ] || { echo "same.sh: $# arguments; hint: bench/same.sh OLD NEW [MAPPING]" >&2; exit 2; }
old=$(realpath -m "$1") new=$(realpath -m "$2") mapping=${3:+$(realpath -m "$3")} corpus=${CORPUS:+$(realpath -m "$CORPUS")}
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
go build -o "$place/" ./bench/same || exit 2
"$place/same" -corpus "${corpus:-bench/corpus}" -replays internal/explore/testdata/faults ${mapping:+-mapping "$mapping"} "$old" "$new"
