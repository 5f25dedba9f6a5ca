#!/bin/bash
# Runs a lock that is broken on purpose by either clock of --stamps, in turns, and prints how many violations
# of exclusion each finds in how many grants, by the length of holds, and by how much the driver's times are
# wider (the median of the runs). Needs python3 with redis, and redis-server.
#
#   bench/stamps.sh                   four runs of 5 s of each, some three minutes
#   PYTHON=DIR/bin/python ROUNDS=10 DURATION=10s bench/stamps.sh
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
go build -o "$built/lockbench" ./cmd/lockbench
broken="LOCKBENCH_BREAK=grant exec ${PYTHON:-python3} -B adapters/python/redis_py.py"
for hold in 0s 100us 1ms 5ms; do
	for ((round = 0; round < ${ROUNDS:-4}; round++)); do
		for stamps in driver adapter; do
			"$built/lockbench" run -q --adapter "$broken" --clients 3 --stallers 0 --keys 1 --hold "$hold" --duration "${DURATION:-5s}" \
				--stamps "$stamps" --history "$built" --out "json=$built/$hold.$stamps.$round" > "$built/log" 2>&1 || [ $? = 1 ] || { cat "$built/log" >&2; exit 1; }
		done
	done
done
python3 - "$built" <<'END'
import glob, json, re, statistics, sys
print("| hold | driver | adapter | wider by |\n|---|---|---|---|")
for hold in "0s", "100us", "1ms", "5ms":
    row, widths = [], []
    for stamps in "driver", "adapter":
        runs = [json.load(open(f))["runs"][0] for f in glob.glob(f"{sys.argv[1]}/{hold}.{stamps}.*")]
        found = sum(r["cells"]["exclusion"]["violations"] for r in runs)
        grants = sum(r["counts"]["grants"] for r in runs)
        row.append(f"{found:,} of {grants:,}")
        widths += [float(n) * {"µs": 1, "ms": 1000}[unit] for r in runs for n, unit in re.findall(r"by ([\d.]+)(µs|ms) at the median", str(r["notes"]))]
    print(f"| {hold} | {' | '.join(row)} | {statistics.median(widths):.0f} us |")
END
