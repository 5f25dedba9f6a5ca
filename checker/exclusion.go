package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
)

// The monitor of exclusion judges that no two owners hold one key. Within their validity, their
// must-hold intervals must not overlap. Past its validity, an owner must not work on while another
// holds the key; Outlived always touches that.
var _ = monitorOf(exclusion, monitor{
	untested:     "no acquire met a held lock",
	untestedPast: "no owner worked past its lease",
	measures:     "overlap",
	on: [factKinds]func(*Checker, fact){
		factOverlap:   heldTogether,
		factIntruded:  intruded,
		factLettingGo: workedPast,
	},
})

// Kinds of violation.
var (
	overlapping = kindOf(exclusion, TwoAtOnce, "%s and %s held the key at the same time, both within their validity")
	workedOn    = kindOf(exclusion, TwoAtOnce, "%s worked on past its validity while %s held the key")
)

// heldTogether reports two owners that both held the key within their validity.
func heldTogether(c *Checker, f fact) {
	f.key.conflicts++
	a, b := f.hold, f.other
	a.rivals = append(a.rivals, b)
	b.rivals = append(b.rivals, a)
	v := candidate{kind: overlapping, key: f.key, holds: []*hold{a, b}, under: c.touching(a, b)}
	// Neither worked past its validity, so Outlived is the condition of a past owner's call.
	if v.under.Has(lockbench.Outlived) && a.staleOp == nil && b.staleOp == nil {
		v.kind = overlappingByStaleCall
	}
	c.violate(v)
}

// intruded notes the first client that was granted the key past the validity of f.hold.
func intruded(_ *Checker, f fact) {
	if a := f.hold; a.intruder == nil && !a.Dead {
		a.intruder, a.intrusion = f.other, f.at
	}
}

// workedPast judges whether the owner of f.hold worked past its validity, and whether another
// client was granted the key meanwhile.
func workedPast(c *Checker, f fact) {
	h := f.hold
	until := interval.Earlier(f.at, h.LastWork) // an owner that was told of the loss stops
	if !h.Confirmed || !h.Anchored || h.Dead || until.T <= h.Base {
		return
	}
	under := c.touching(h) | c.renewing(h, until.T) | lockbench.Outlived
	c.expose(exclusion, under)
	if h.intruder == nil || !h.intrusion.Before(until) {
		return
	}
	together := interval.Earlier(until, h.intruder.LastWork).T - h.intrusion.T
	c.measure(exclusion, under, together)
	c.result.noteOverlap(together)
	c.violate(candidate{kind: workedOn, key: f.key, holds: []*hold{h, h.intruder}, under: under})
}
