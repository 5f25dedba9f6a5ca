package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A finding is the finding in one history for one cell or, by a lockbench without cells,
// for one guarantee.
type finding struct {
	verdict string
	claimed bool
	// against counts the violations of claims.
	exposure, violations, against int64
	// key and clients are the key and clients of the clearest violation; empty if there is
	// none.
	key, clients string
}

// failing is the number of violated claims if the build does not tell it: all violations
// of a broken claim.
func (f finding) failing() int64 {
	if f.claimed && f.verdict == "broken" {
		return f.violations
	}
	return 0
}

// A judgement is the result for one history.
type judgement struct {
	exit    int
	partial bool
	// findings are by cell, nil if the history could not be judged.
	findings map[string]finding
	// said is the reason why it could not.
	said string
}

// judgements are by the name of the history.
type judgements map[string]judgement

// cells are the names of all cells with a finding in any history, in order.
func (js judgements) cells() []string {
	names := map[string]bool{}
	for _, j := range js {
		for cell := range j.findings {
			names[cell] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// judged counts the histories that have findings.
func (js judgements) judged() (n int) {
	for _, j := range js {
		if len(j.findings) > 0 {
			n++
		}
	}
	return n
}

// gravities order verdicts as the checker does; hazard was a verdict once. An unknown name
// outweighs all.
var gravities = map[string]int{"n/a": 1, "untested": 2, "held": 3, "hazard": 4, "broken": 5}

func gravity(verdict string) int {
	if g, ok := gravities[verdict]; ok {
		return g
	}
	return len(gravities) + 1
}

// fold combines several findings: the gravest verdict and its evidence, the sums of
// counts, and claimed if any is. Without findings it is untested.
func fold(all []finding) finding {
	if len(all) == 0 {
		return finding{verdict: "untested"}
	}
	out := slices.MaxFunc(all, func(a, b finding) int { return cmp.Compare(gravity(a.verdict), gravity(b.verdict)) })
	out.claimed, out.exposure, out.violations, out.against = false, 0, 0, 0
	for _, f := range all {
		out.claimed = out.claimed || f.claimed
		out.exposure += f.exposure
		out.violations += f.violations
		out.against += f.against
	}
	return out
}

// clientList writes clients as 0,3,7.
func clientList(clients []int32) string {
	slices.Sort(clients)
	var names []string
	for _, c := range slices.Compact(clients) {
		names = append(names, strconv.Itoa(int(c)))
	}
	return strings.Join(names, ",")
}
