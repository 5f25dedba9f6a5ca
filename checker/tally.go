package checker

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/spread"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/series"
)

// A tally is what is known of one guarantee so far: a row for each exact set of
// conditions. There are one to six in a real run.
type tally struct {
	rows   []row
	recent int // the row that was asked for last
}

// A row is what is known of one cell.
type row struct {
	under lockbench.Conditions
	// exposure counts the occasions that were seen as such, violations those on which the
	// guarantee was broken, against those of them that count against the claims.
	exposure, violations, against int64
	asked                         [Questions]int64 // violations by question
	broken                        []candidate
	when                          series.Counts    // of violations
	measured                      spread.Durations // what its monitor measures
	told, toldAgainst             bool             // see News
}

// at returns the row of exactly these conditions.
func (t *tally) at(under lockbench.Conditions) *row {
	if t.recent < len(t.rows) && t.rows[t.recent].under == under {
		return &t.rows[t.recent]
	}
	for i := range t.rows {
		if t.rows[i].under == under {
			t.recent = i
			return &t.rows[i]
		}
	}
	t.recent = len(t.rows)
	if t.recent < cap(t.rows) {
		t.rows = t.rows[:t.recent+1]
		t.rows[t.recent] = row{under: under, broken: t.rows[t.recent].broken[:0]}
	} else {
		t.rows = append(t.rows, row{under: under})
	}
	return &t.rows[t.recent]
}

// occasions is how many there were: each violation was one.
func (r *row) occasions() int64 { return max(r.exposure, r.violations) }

// A candidate is a violation that may be shown.
type candidate struct {
	kind   *kind
	under  lockbench.Conditions // what touched it
	key    *key
	number int64 // of the event, see Checker
	holds  []*hold
	ops    []*history.Op // for violations by operations, holds or not
	by     *hold         // whose grant is the breach, nil where it was none or is the last of holds
}

// candidates is among how many violations of a cell the clearest is chosen.
func (c *Checker) candidates() int {
	if c.brief {
		return 0
	}
	return 64
}

// expose notes an occasion on which p could have been broken under these conditions.
func (c *Checker) expose(p promise, under lockbench.Conditions) { c.tallies[p].at(under).exposure++ }

// violate notes a violation. What is found does not depend on what is claimed; whether it
// counts against the claims does.
func (c *Checker) violate(v candidate) {
	k := v.kind
	r := c.tallies[k.breaks[0]].at(v.under)
	r.violations++
	if k.occasion {
		r.exposure++
	}
	r.asked[k.question]++
	if c.counts(v) {
		r.against++
	}
	if !c.brief {
		r.when.Add(c.last.T, 1)
	}
	c.violations++
	c.breached(v)
	v.number = c.number
	if len(r.broken) < c.candidates() {
		r.broken = append(r.broken, v)
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
	if by == nil || !by.breach {
		c.result.Breaches++
	}
	if by != nil {
		by.breach = true
	}
}

// counts reports whether v counts against the claims: the design claims every guarantee of
// which one was broken, under all that touched v, and no exception covers it.
func (c *Checker) counts(v candidate) bool {
	if c.partial && c.faulty() { // what affected a client may be in the part that is missing
		return false
	}
	return !slices.ContainsFunc(v.kind.breaks, func(p promise) bool {
		under := v.under
		if v.kind == overlappingBesideStale && p == exclusion { // it is within validity
			under &^= lockbench.Outlived
		}
		return !c.header.Claims.Covers(names[p], under, c.faults.happened()|under)
	})
}

// worst notes an overlap of d ns.
func (c *Checker) worst(d int64) {
	c.result.WorstOverlap = max(c.result.WorstOverlap, time.Duration(d))
}

// measure adds ns to what is measured of p under these conditions, unless nobody will ask for
// it.
func (c *Checker) measure(p promise, under lockbench.Conditions, ns int64) {
	if !c.brief {
		c.tallies[p].at(under).measured.Add(ns)
	}
}
