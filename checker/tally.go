package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/history"
)

// A tally has the counts of one guarantee, a row for each cell.
type tally = count.Table[candidate]

// A row has the counts of one cell.
type row = count.Row[candidate]

// A candidate is a violation that may be shown.
type candidate struct {
	kind   *kind
	under  lockbench.Conditions // that touched it
	key    *key
	number int64 // of the event, see Checker
	holds  []*hold
	ops    []*history.Op // for violations by operations, holds or not
	by     *hold         // the hold whose grant is the breach; nil if it is the last of holds, or there is none
}

// candidates bounds the violations of a cell among which the clearest is chosen.
const candidates = 64

// expose notes an occasion on which p could have been broken under these conditions.
func (c *Checker) expose(p guaranteeID, under lockbench.Conditions) {
	c.tallies[p].At(under).Exposure++
}

// violate counts a violation. Claims decide only whether it counts against them.
func (c *Checker) violate(v candidate) {
	k := v.kind
	r := c.tallies[k.breaks[0]].At(v.under)
	r.Violations++
	if k.occasion {
		r.Exposure++
	}
	r.Asked[k.question]++
	if c.counts(v) {
		r.Against++
	}
	if !c.brief {
		r.When.Add(c.last.T, 1)
	}
	c.violations++
	c.breached(v)
	v.number = c.number
	if !c.brief && len(r.Broken) < candidates {
		r.Broken = append(r.Broken, v)
	}
}

// breached counts what v shows once, however many guarantees it shows on: a grant that
// should not have been is one breach.
func (c *Checker) breached(v candidate) {
	by := v.by
	if n := len(v.holds); by == nil && n > 1 {
		if by = v.holds[n-1]; by.Granted.Before(v.holds[n-2].Granted) {
			by = v.holds[n-2]
		}
	}
	if by == nil || !by.breachCounted {
		c.result.Breaches++
	}
	if by != nil {
		by.breachCounted = true
	}
}

// counts reports whether v counts against the claims: the design claims every guarantee of
// which one was broken, under all that touched v, and no exception covers it.
func (c *Checker) counts(v candidate) bool {
	if c.partial && c.faulty() { // what affected a client may be in the part that is missing
		return false
	}
	return !slices.ContainsFunc(v.kind.breaks, func(p guaranteeID) bool {
		under := v.under
		if v.kind == overlappingByStaleCall && p == exclusion { // it is within validity
			under &^= lockbench.Outlived
		}
		return !c.header.Claims.Covers(names[p], under, c.faults.happened()|under)
	})
}

// measure adds ns to what is measured of p under these conditions, unless nobody will ask for
// it.
func (c *Checker) measure(p guaranteeID, under lockbench.Conditions, ns int64) {
	if !c.brief {
		c.tallies[p].At(under).Measured.Add(ns)
	}
}
