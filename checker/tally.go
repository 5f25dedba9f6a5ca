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

// A candidate is a violation that may become the counterexample of its cell.
type candidate struct {
	kind   *kind
	under  lockbench.Conditions // that touched it
	key    *key
	number int64 // of the event, see Checker.number
	holds  []*hold
	ops    []*history.Op // for violations that operations show, not holds
	by     *hold         // the grant that is the breach; nil if it is the last of holds, or there is none
}

// candidates bounds how many violations of a cell are kept. The clearest of them is shown.
const candidates = 64

// expose counts an occasion of p under these conditions.
func (c *Checker) expose(p guaranteeID, under lockbench.Conditions) {
	if !c.silent {
		c.tallies[p].At(under).Exposure++
	}
}

// violate counts a violation. The claims only decide whether it counts against them.
func (c *Checker) violate(v candidate) {
	if c.silent {
		return
	}
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
	if !c.verdictsOnly {
		r.When.Add(c.last.T, 1)
	}
	c.violations++
	c.breached(v)
	v.number = c.number
	if !c.verdictsOnly && len(r.Broken) < candidates {
		r.Broken = append(r.Broken, v)
	}
}

// breached counts the grant that should not have happened, once, although v may be one of several
// violations that it makes.
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

// counts reports whether v counts against the claims: the design claims every guarantee that v may
// break, under all conditions that touched v, and no exception covers it.
func (c *Checker) counts(v candidate) bool {
	if c.partial && c.faulty() { // the fault that affected a client may be missing in the record
		return false
	}
	return !slices.ContainsFunc(v.kind.breaks, func(p guaranteeID) bool {
		under := v.under
		if v.kind == overlappingByStaleCall && p == exclusion { // both holds are within validity
			under &^= lockbench.Outlived
		}
		return !c.header.Claims.Covers(names[p], under, c.faults.happened()|under)
	})
}

// measure adds ns to the durations measured of p under these conditions, unless the judgement is
// brief.
func (c *Checker) measure(p guaranteeID, under lockbench.Conditions, ns int64) {
	if !c.verdictsOnly {
		c.tallies[p].At(under).Measured.Add(ns)
	}
}
