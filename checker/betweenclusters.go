package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/pending"
)

// A cluster is a time of a key in which each hold may have been granted before another one was over. Beyond it,
// no call under its holds acts on the key. If one overlap in it has a reason, such as a past owner's call, each later
// one may have the same: an owner that shares the key without knowing frees it for the next one.
type cluster struct {
	brought []occurrence // the earliest times of holds and spans that bring more conditions
	ever    lockbench.Conditions
}

// A life is the time of a hold, or of another span of its key, on the coordinator's clock, at its widest.
type life struct {
	from, until int64
	hold        *machineHold // nil for a span
	under       lockbench.Conditions
}

// clusters returns the cluster of each hold.
func clusters(lives []life) map[*machineHold]*cluster {
	slices.SortFunc(lives, func(a, b life) int { return cmp.Compare(a.from, b.from) })
	in := make(map[*machineHold]*cluster)
	var newest *cluster
	until := int64(math.MinInt64)
	for _, l := range lives {
		if newest == nil || l.from > until {
			newest = &cluster{}
		}
		until = max(until, l.until)
		if l.hold != nil {
			in[l.hold] = newest
		}
		if l.under&^newest.ever != 0 {
			newest.brought = append(newest.brought, occurrence{l.from, l.under})
			newest.ever |= l.under
		}
	}
	return in
}

// lasting are the conditions of faults that touch all that comes later, on every key.
const lasting = pending.Striking | lockbench.Skew

// touching returns the conditions that touched holds: their own, the conditions of their clusters by a time, and the
// lasting conditions of faults by then.
func (j *judgeOfMachines) touching(by int64, holds ...ownedHold) (under lockbench.Conditions) {
	under = happened(j.faults, by) & lasting
	for _, h := range holds {
		under |= h.hold.under | happened(h.cluster.brought, by)
	}
	return under
}

// happened returns the conditions that may have occurred by a time.
func happened(all []occurrence, by int64) (under lockbench.Conditions) {
	for _, o := range all {
		if o.at <= by {
			under |= o.under
		}
	}
	return under
}
