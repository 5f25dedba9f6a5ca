#!/bin/bash
# Runs four agents in network namespaces, each with an address of its own, and in time namespaces whose
# monotonic clocks differ by minutes. A sound lock is run under mixed faults, of clients and their networks and
# then of servers, too, which the coordinator starts; and locks that are broken, or that claim what no lock on
# such a server keeps. Exits with 1 if the sound lock is accused, a broken one is not caught, or a record is not
# whole. Needs Linux, root, redis-server, iproute2, unshare and python3.
#
#   bench/namespaces.sh                                        twenty minutes of faults of clients on keys of
#                                                              each agent, twenty on shared keys, two of these
#                                                              with fences, ten of faults of servers
#   FAULTS=1m SHARED=1m FENCED=1m SERVER_FAULTS=1m bench/namespaces.sh   a minute of each
#   ONLY='shared fenced' bench/namespaces.sh                   some of the runs
#
# All traffic is between the namespaces, which the script makes and removes.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
go build -o "$work/lockbench" ./cmd/lockbench
id=lb$$
hub=$id-hub
center=10.99.0.1 # the hub's address, which every agent reaches by a link of its own
pids=()
ran=()
end() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	for i in 1 2 3 4; do ip netns del "$id-$i" 2>/dev/null || true; done
	ip netns del "$hub" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT

ip netns add "$hub"
ip -n "$hub" link set lo up
ip -n "$hub" addr add "$center/32" dev lo
for i in 1 2 3 4; do
	ip netns add "$id-$i"
	ip -n "$id-$i" link set lo up
	ip -n "$hub" link add "h$i" type veth peer name out netns "$id-$i"
	ip -n "$hub" addr add "10.99.$i.1/24" dev "h$i"
	ip -n "$hub" link set "h$i" up
	ip -n "$id-$i" addr add "10.99.$i.2/24" dev out
	ip -n "$id-$i" link set out up
	ip -n "$id-$i" route add default via "10.99.$i.1"
done
ip netns exec "$hub" redis-server --bind "$center" --port 6379 --protected-mode no --save "" --dir "$work" >"$work/redis.log" 2>&1 &
pids+=($!)

# run NAME FLAGS...: runs four agents, and writes NAME.json and NAME.txt.
run() {
	name=$1
	shift
	[[ " ${ONLY:-$name} " == *" $name "* ]] || return 0
	ran+=("$name")
	token=$RANDOM$RANDOM$RANDOM
	agents=()
	for i in 1 2 3 4; do
		ip netns exec "$id-$i" unshare --time --monotonic $((i * 600)) --fork --kill-child \
			"$work/lockbench" agent "nats://$center:4222" --token $token >"$work/$name.agent$i" 2>&1 &
		agents+=($!)
	done
	code=0
	ip netns exec "$hub" "$work/lockbench" run --quiet --agents 4 --listen "$center:4222" --token $token \
		--explore 0s --keys 8 --clients 32 --out "json=$work/$name.json" "$@" >"$work/$name.txt" 2>&1 || code=$?
	echo "$name: exit $code, seconds since the start: $SECONDS"
	for pid in "${agents[@]}"; do wait "$pid" || { echo "an agent ended badly:"; cat "$work/$name".agent*; exit 1; }; done
	[ $code != 2 ] || { cat "$work/$name.txt"; exit 1; }
}

theirs=(--server "redis://$center:6379")
clients=(--fault crash --fault lost-reply --fault pause --fault cancel --fault cut --fault black-hole --fault slow)
servers=(--fault restart,every=5s --fault restart-aof,every=6s --fault evict,every=7s --fault script-flush
	--fault client-kill,every=3s --fault server-pause,every=11s)
run broken --design setnx-getset/naive,lua-token/expire --duration 15s --history "$work/histories" "${theirs[@]}"
run claiming --design lua-token/token --claims exclusion@state-loss --duration 15s --hold 50ms --fault restart
run sound --design lua-token/token --duration "${FAULTS:-20m}" --stallers 16 "${theirs[@]}" "${clients[@]}"
run shared-broken --design setnx-getset/naive,lua-token/expire --shared-keys --duration 20s "${theirs[@]}"
run shared --design lua-token/token --shared-keys --duration "${SHARED:-20m}" --stallers 16 "${theirs[@]}" "${clients[@]}"
run fenced --design lua-token/fenced --guard fence --workload redeem --shared-keys --duration "${FENCED:-2m}" --stallers 16 "${theirs[@]}" "${clients[@]}"
run served --design lua-token/token --duration "${SERVER_FAULTS:-10m}" --hold 20ms "${clients[@]}" "${servers[@]}"
python3 - "$work" "${ran[@]}" <<'EOF'
import glob, json, sys
wrong = []
for kind in sys.argv[2:]:
    for run in json.load(open(f"{sys.argv[1]}/{kind}.json"))["runs"]:
        broken = [name for name, c in run["cells"].items() if c["verdict"] == "broken"]
        claimed = [name for name in broken if run["cells"][name]["against"]]
        print(f'{run["design"]}: {run["counts"]["ops"]:,} operations, {run["counts"]["grants"]:,} grants on {len(run["machines"])} machines; '
              f'broken: {", ".join(broken) or "nothing"}; claimed of it: {", ".join(claimed) or "nothing"}')
        if run.get("injected"):
            print("  " + ", ".join(f'{f["kind"]} {f["occurrences"]}' for f in run["injected"]))
        if kind in ("shared", "fenced"):
            held = sorted(((c["exposure"], name) for name, c in run["cells"].items() if c["verdict"] == "held" and c["claimed"]), reverse=True)
            print("  occasions of claimed cells: " + ", ".join(f"{name} {n:,}" for n, name in held[:12]) + f"; {len(held)} cells")
        pairs = [note for note in run["notes"] if note.startswith("machines ") or " holds were at times" in note]
        print("\n".join("  " + note for note in pairs))
        if kind == "shared-broken" and not any("overlaps: 0;" not in note for note in pairs if note.startswith("machines ")):
            wrong.append(f'{run["design"]}: nothing was caught between two machines')
        if run["partial"] or run.get("error") or len(run["machines"]) != 4:
            wrong.append(f'{run["design"]}: the record is not whole: {run.get("why")} {run.get("error")}')
        if kind in ("sound", "shared", "fenced", "served") and claimed or kind in ("broken", "shared-broken") and not broken or kind == "claiming" and not claimed:
            wrong.append(f'{run["design"]}: broken are {broken}')
print("\n".join(wrong))
sys.exit(bool(wrong))
EOF
