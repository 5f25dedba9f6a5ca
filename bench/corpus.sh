#!/bin/bash
# Records the histories against which two builds of lockbench are compared (bench/same.sh),
# judges them, and keeps the verdicts in golden.txt. The kept ones are in bench/corpus.
#
#   bench/corpus.sh DIR                      a corpus of one's own, in a new folder
#   STAGES="torn golden" bench/corpus.sh bench/corpus
#   LOCKBENCH=/tmp/old/lockbench STAGES=golden bench/corpus.sh bench/corpus
#
# LOCKBENCH is the binary that records and judges, by default one of this tree. STAGES are
# some of: faults mixes works stalls tried synthetic torn explored cases simulated kept
# golden; each but golden replaces its folder. All together take about a quarter of an
# hour and need redis-server, and libfaketime for clock-step.
#
# Names, settings and seeds are the same each time. What clients draw is, too; when a
# server answers is not, so that live recordings differ from one time to the next, and so
# may their verdicts. synthetic, explored, cases, simulated and kept are the same to the byte.
#
# It ends with the table of verdicts, and fails where no history breaks a guarantee or none
# keeps it.
set -euo pipefail
[ $# = 1 ] || { echo "corpus.sh: no folder given; hint: bench/corpus.sh DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
for program in redis-server go; do
  command -v "$program" >/dev/null || { echo "corpus.sh: $program is not in PATH" >&2; exit 2; }
done
export TMPDIR=/tmp # histories name the folder of their server
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
go build -o "$place/" ./cmd/lockbench ./bench/generate ./bench/same ./bench/tried
lockbench=${LOCKBENCH:-$place/lockbench}

# Leases of these designs are whole seconds: their runs last longer.
seconds='setnx-getset/*,lua-token/expire,lua-token/token'
others='lua-token/options,lua-token/strategy,lua-token/fenced,lua-token/batched,hash-reentrant/*,redislock/*,redsync/*,rueidislock/*'
few='lua-token/strategy,lua-token/fenced,hash-reentrant/notify,redislock/obtain,redsync/quorum,rueidislock/polling'

# run records one run of some designs, a history for each, in a folder below $dir. A broken
# claim, or one that was met too rarely, is no error here.
run() {
  local folder=$1 code=0
  shift
  "$lockbench" run -q --clients 4 --keys 2 --warmup 0s --stallers 0 --seed 7 --history "$dir/$folder" "$@" >"$place/report" 2>&1 || code=$?
  ended "$folder" "$code"
}

# ended tells how a run ended. One that did not begin leaves an empty history.
ended() {
  local empty
  empty=$(find "$dir/$1" -maxdepth 1 -name '*.lbh' -size 0 2>/dev/null | head -n 1)
  [ -z "$empty" ] || { echo "corpus.sh: $empty is empty" >&2; cat "$place/report" >&2; exit 2; }
  case $2 in
  0 | 1 | 3) echo "$1: exit $2" ;;
  *) echo "corpus.sh: $1: lockbench exits $2" >&2; cat "$place/report" >&2; exit 2 ;;
  esac
}

short=(--ttl 120ms --hold exp:8ms --think exp:8ms --wait 60ms --slow 0.06 --duration 700ms)
long=(--ttl 1s --hold exp:20ms --think exp:30ms --wait 300ms --slow 0.06 --duration 2600ms)

# all records all designs. watch-multi tolerates clocks that are a second off: a slow hold
# of it would outlast the run.
all() {
  local folder=$1
  shift
  run "$folder" --design "$others" "${short[@]}" "$@"
  run "$folder" --design "$seconds" "${long[@]}" "$@"
  run "$folder" --design 'watch-multi/*' "${short[@]}" --slow 0 "$@"
}

faults() {
  rm -rf "$dir/faults"
  all faults/none
  for fault in pause,p=0.02 crash,p=0.02 lost-reply,p=0.03 cut,p=0.03 cancel,p=0.05 skew \
    script-flush,at=100ms,every=150ms server-pause,at=200ms,every=250ms restart,at=150ms,every=250ms \
    restart-aof,at=150ms,every=250ms client-kill,at=100ms,every=150ms failover,at=150ms,every=250ms \
    slow,at=100ms,every=200ms,by=40ms throttle,at=100ms,every=200ms,n=2 black-hole,at=100ms,every=300ms \
    clock-step,at=150ms,every=250ms evict,at=150ms,every=150ms; do
    all "faults/${fault%%,*}" --fault "$fault"
  done
  run faults/down --design 'redsync/quorum' "${short[@]}" --fault down,at=150ms,n=2
  run faults/down --design 'rueidislock/*' "${short[@]}" --fault down,at=150ms,n=1
}

mixes() {
  rm -rf "$dir/mixes"
  run mixes/crash+lost-reply --design "$few" "${short[@]}" --fault crash,p=0.01 --fault lost-reply,p=0.02
  run mixes/lost-reply+cancel --design "$few" "${short[@]}" --fault lost-reply,p=0.02 --fault cancel,p=0.04
  run mixes/skew+crash --design "$few" "${short[@]}" --fault skew --fault crash,p=0.01
  run mixes/restart+lost-reply --design "$few" "${short[@]}" --fault restart,at=150ms,every=250ms --fault lost-reply,p=0.02
  run mixes/failover+crash --design "$few" "${short[@]}" --fault failover,at=150ms,every=250ms --fault crash,p=0.01
  run mixes/script-flush+cut --design "$few" "${short[@]}" --fault script-flush,at=100ms,every=150ms --fault cut,p=0.02
  run mixes/clock-step+pause --design "$few" "${short[@]}" --fault clock-step,at=150ms,every=250ms --fault pause,p=0.02
  run mixes/evict+cancel --design "$few" "${short[@]}" --fault evict,at=150ms,every=200ms --fault cancel,p=0.04
  run mixes/processes-crash --design "$few" "${short[@]}" --processes 2 --fault crash,p=0.01
  run mixes/processes-pause --design "$few" "${short[@]}" --processes 2 --fault pause,p=0.01
  run mixes/everything --design 'setnx-getset/*,lua-token/token,watch-multi/poll,hash-reentrant/plain' "${long[@]}" \
    --fault crash,p=0.005 --fault lost-reply,p=0.01 --fault cancel,p=0.02 --fault script-flush,at=300ms,every=500ms
}

works() {
  rm -rf "$dir/works"
  run works/none --design "$few" "${short[@]}"
  run works/processes --design 'hash-reentrant/*,lua-token/batched,lua-token/options,rueidislock/*' "${short[@]}" --processes 2
  run works/mutex --design "$few" "${short[@]}" --workload mutex
  run works/redeem --design "$few" "${short[@]}" --workload redeem
  run works/redeem --design 'setnx-getset/*,lua-token/token' "${long[@]}" --workload redeem
  run works/slow-step --design 'lua-token/strategy,lua-token/options,hash-reentrant/*,redislock/*,redsync/*,watch-multi/*,rueidislock/*' --workload slow-step \
    --ttl 100ms --hold 130ms --wait 150ms --duration 1200ms
  run works/reentrant --design 'hash-reentrant/*' --workload reentrant --ttl 120ms --hold 30ms --wait 60ms --duration 800ms
  run works/nested-short --design 'hash-reentrant/*' --workload reentrant --ttl 300ms --nested-ttl 60ms --hold 100ms --wait 60ms --duration 1s
  run works/cron --design 'watch-multi/*,lua-token/strategy,redislock/obtain' --workload cron --period 300ms --ttl 200ms --hold 60ms --duration 1500ms
  run works/cron-long --design 'watch-multi/*,lua-token/strategy,redsync/single' --workload cron --period 400ms --ttl 150ms --hold 300ms --duration 2s
  for guard in fence cas; do
    run "works/guard-$guard" --design lua-token/fenced "${short[@]}" --slow 0.2 --guard "$guard"
    run "works/guard-$guard-failover" --design lua-token/fenced "${short[@]}" --fault failover,at=150ms,every=250ms --guard "$guard"
  done
  run works/arrivals --design "$few" --ttl 120ms --hold exp:8ms --wait 60ms --slow 0.06 --duration 700ms --rate 150
  run works/stranger --design 'setnx-getset/*,lua-token/expire' --ttl 1s --hold 1200ms --think 50ms --wait 1500ms --duration 5s --clients 3 --keys 1
}

# stalled is run while the processes that it starts stand still, now and then, as those of
# a starved machine do: $1 is lockbench, or server for the private redis-server.
stalled() {
  local who=$1 folder=$2 code=0 pids
  shift 2
  "$lockbench" run -q --clients 4 --keys 2 --warmup 0s --stallers 0 --seed 7 --history "$dir/$folder" "$@" >"$place/report" 2>&1 &
  local running=$!
  while sleep 0.15 && kill -0 "$running" 2>/dev/null; do
    pids=$running
    [ "$who" = lockbench ] || pids=$(pgrep -P "$running" redis-server || true)
    for pid in $pids; do kill -STOP "$pid" 2>/dev/null || true; done
    sleep 0.1
    for pid in $pids; do kill -CONT "$pid" 2>/dev/null || true; done
  done
  wait "$running" || code=$?
  ended "$folder" "$code"
}

stalls() {
  rm -rf "$dir/stalls"
  stalled lockbench stalls/lockbench --design "$few" "${short[@]}"
  stalled server stalls/server --design "$few" "${short[@]}"
  stalled lockbench stalls/lockbench-crash --design "$few" "${short[@]}" --fault crash,p=0.01
  stalled server stalls/server-lost-reply --design "$few" "${short[@]}" --fault lost-reply,p=0.02
  stalled lockbench stalls/renewing --design 'hash-reentrant/notify,rueidislock/*' "${short[@]}" --slow 0.3
}

# tried keeps what locktest records of locks that are broken on purpose, and of sound ones.
tried() {
  rm -rf "$dir/tried"
  "$place/tried" "$dir/tried" plain-del whole-seconds inner-shortens extend-millis silent-loss \
    extend-ignored inner-frees fence-first dead-queue cancelled-grant release-then-delay get-think-set full
}

synthetic() {
  rm -rf "$dir/synthetic"
  mkdir "$dir/synthetic"
  for seed in 1 2 3; do
    for violations in 0 2; do
      for unknown in 0 0.05 0.15; do
        "$place/generate" -ops 1500 -clients 8 -keys 8 -seed "$seed" -violations "$violations" -unknown "$unknown" \
          "$dir/synthetic/seed-$seed-violations-$violations-unknown-$unknown.lbh" >/dev/null
      done
    done
  done
  "$place/generate" -format jsonl -ops 150 -clients 4 -keys 2 -seed 4 -violations 1 "$dir/synthetic/lines.jsonl" >/dev/null
}

# torn cuts histories in the middle of a block, and one before its first.
torn() {
  rm -rf "$dir/torn"
  mkdir "$dir/torn"
  local file size
  for file in faults/none/setnx-getset-naive faults/crash/lua-token-strategy faults/lost-reply/redislock-obtain \
    faults/restart/lua-token-fenced faults/script-flush/hash-reentrant-notify faults/failover/redsync-single \
    faults/cancel/rueidislock-polling works/slow-step/hash-reentrant-plain; do
    size=$(stat -c %s "$dir/$file.lbh")
    for percent in 35 60 85 99; do
      head -c $((size * percent / 100)) "$dir/$file.lbh" >"$dir/torn/$(basename "$(dirname "$file")")-$(basename "$file")-$percent.lbh"
    done
  done
  head -c 10 "$dir/faults/none/setnx-getset-naive.lbh" >"$dir/torn/no-header.lbh"
}

# explored keeps schedules that break something, of designs whose known ones are not in
# internal/explore/testdata.
explored() {
  rm -rf "$dir/explored"
  local design code
  for design in redislock/obtain redislock/multi redsync/single watch-multi/give-up watch-multi/poll lua-token/fenced hash-reentrant/notify; do
    code=0
    "$lockbench" explore -q "$design" --schedules 600 --seed 1 --save "$dir/explored" >"$place/report" 2>&1 || code=$?
    ended explored "$code"
  done
}

# cases are those of checker/testdata/cases.txt as JSON Lines.
cases() {
  rm -rf "$dir/cases"
  go test ./checker -run '^TestCasesAsFiles$' -count=1 -cases "$dir/cases" >/dev/null
}

# simulated are histories of a simulated lock, sound or with one of some thirty faults, under
# mixes of faults from outside, and random ones.
simulated() {
  rm -rf "$dir/simulated"
  go test ./checker -run '^TestSimulatedAsFiles$' -count=1 -simulated "$dir/simulated" >/dev/null
}

# kept are histories that are not made here, in found and in written: of verdicts that were
# wrong once, and for rules that nothing else here depends on.
kept() {
  [ "$dir" = "$PWD/bench/corpus" ] && return
  rm -rf "$dir/found" "$dir/written"
  cp -r bench/corpus/found bench/corpus/written "$dir"
}

golden() {
  "$place/same" -corpus "$dir" -replays internal/explore/testdata/faults -write "$dir/golden.txt" "$lockbench"
}

for stage in ${STAGES:-faults mixes works stalls tried synthetic torn explored cases simulated kept golden}; do
  case $stage in
  faults | mixes | works | stalls | tried | synthetic | torn | explored | cases | simulated | kept | golden) "$stage" ;;
  *) echo "corpus.sh: no stage $stage; hint: the head of this script lists them" >&2; exit 2 ;;
  esac
done
