package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A finding is what was said of one history about one guarantee.
type finding struct {
	verdict              string
	claimed              bool
	exposure, violations int64
	// key and clients are those of the clearest violation; empty where there is none.
	key, clients string
}

// A judgement is what was said of one history.
type judgement struct {
	exit    int
	partial bool
	// findings are by guarantee, nil where the history could not be judged.
	findings map[string]finding
	// said is why it could not.
	said string
}

// judgements are by the name of the history.
type judgements map[string]judgement

// guarantees are the names of all that any history has a finding about, in order.
func (js judgements) guarantees() []string {
	names := map[string]bool{}
	for _, j := range js {
		for g := range j.findings {
			names[g] = true
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

// gravities order verdicts as the checker does; a name that is not here outweighs all.
var gravities = map[string]int{"n/a": 1, "untested": 2, "held": 3, "hazard": 4, "broken": 5}

func gravity(verdict string) int {
	if g, ok := gravities[verdict]; ok {
		return g
	}
	return len(gravities) + 1
}

// fold makes one finding of several: the gravest verdict and its evidence, the sums of
// what was counted, and claimed if any is.
func fold(all []finding) finding {
	out := slices.MaxFunc(all, func(a, b finding) int { return cmp.Compare(gravity(a.verdict), gravity(b.verdict)) })
	out.claimed, out.exposure, out.violations = false, 0, 0
	for _, f := range all {
		out.claimed = out.claimed || f.claimed
		out.exposure += f.exposure
		out.violations += f.violations
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
