package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A finding is what was said of one history about one cell or, by a lockbench that had
// none, about one guarantee.
type finding struct {
	verdict string
	claimed bool
	// against are the violations that count against the claims.
	exposure, violations, against int64
	// key and clients are those of the clearest violation; empty where there is none.
	key, clients string
}

// failing are the violations that count where nothing else is said of them: all of a claim
// that is broken.
func (f finding) failing() int64 {
	if f.claimed && f.verdict == "broken" {
		return f.violations
	}
	return 0
}

// A judgement is what was said of one history.
type judgement struct {
	exit    int
	partial bool
	// findings are by cell, nil where the history could not be judged.
	findings map[string]finding
	// said is why it could not.
	said string
}

// judgements are by the name of the history.
type judgements map[string]judgement

// cells are the names of all that any history has a finding about, in order.
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

// gravities order verdicts as the checker does; hazard was one once. A name that is not
// here outweighs all.
var gravities = map[string]int{"n/a": 1, "untested": 2, "held": 3, "hazard": 4, "broken": 5}

func gravity(verdict string) int {
	if g, ok := gravities[verdict]; ok {
		return g
	}
	return len(gravities) + 1
}

// fold makes one finding of several: the gravest verdict and its evidence, the sums of
// what was counted, and claimed if any is. Of none it is untested: nothing was met.
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
