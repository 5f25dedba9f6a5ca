package checker

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/measure/series"
)

// A tally is what is known of one guarantee so far.
type tally struct {
	exposure, violations, hazards int64
	excused                       int64 // violations with a death or pause on the holder
	broken, risky                 []candidate
	when                          series.Counts // of violations and hazards
	told                          bool          // see News
}

// A candidate is a violation that may become the witness.
type candidate struct {
	key    *key
	number int64 // of the event, see Checker
	kind   violation
	holds  []*hold
	ops    []*history.Op // for violations by operations, holds or not
}

// candidates is among how many violations the clearest is chosen.
func (c *Checker) candidates() int {
	if c.brief {
		return 0
	}
	return 64
}

// expose notes an occasion on which g could have been broken. Under skewed clocks
// only exclusion is put to the test of what would then be blamed on skew.
func (c *Checker) expose(g lockbench.Guarantee) {
	if under := c.under(g); under == g || g == lockbench.Exclusion {
		c.tallies[under].exposure++
	}
}

// violate notes a violation shown by holds, violateOps one shown by operations.
func (c *Checker) violate(g lockbench.Guarantee, k *key, kind violation, holds ...*hold) {
	c.convict(c.under(g), candidate{key: k, kind: kind, holds: holds})
}

func (c *Checker) violateOps(g lockbench.Guarantee, k *key, kind violation, ops ...*history.Op) {
	c.convict(c.under(g), candidate{key: k, kind: kind, ops: ops})
}

func (c *Checker) convict(g lockbench.Guarantee, of candidate) {
	t := c.tallies[g]
	t.violations++
	c.date(t)
	c.convictions++
	of.number = c.number
	if len(t.broken) < c.candidates() {
		t.broken = append(t.broken, of)
	}
}

func (c *Checker) hazard(g lockbench.Guarantee, k *key, kind violation, holds ...*hold) {
	t := c.tallies[g]
	t.hazards++
	c.date(t)
	if len(t.risky) < c.candidates() {
		t.risky = append(t.risky, candidate{key: k, number: c.number, kind: kind, holds: holds})
	}
}

// date notes that something was established at the event being judged.
func (c *Checker) date(t *tally) {
	if !c.brief {
		t.when.Add(c.last.t, 1)
	}
}

// worst notes an overlap of d ns.
func (c *Checker) worst(d int64) {
	c.result.WorstOverlap = max(c.result.WorstOverlap, time.Duration(d))
}

// spread is a distribution of durations in ns, made when first needed.
type spread struct{ h *hdrhistogram.Histogram }

// measure adds ns to s, unless nobody will ask for it.
func (c *Checker) measure(s *spread, ns int64) {
	if !c.brief {
		s.add(ns)
	}
}

func (s *spread) add(ns int64) {
	if s.h == nil {
		s.h = hdrhistogram.New(1, int64(24*time.Hour), 3)
	}
	_ = s.h.RecordValue(min(max(ns, 1), int64(24*time.Hour)))
}

// measures names the percentiles of s after what they measure.
func (s *spread) measures(name string) map[string]float64 {
	if s.h == nil {
		return nil
	}
	return map[string]float64{
		name + "_count":  float64(s.h.TotalCount()),
		name + "_p50_ns": float64(s.h.ValueAtQuantile(50)),
		name + "_p99_ns": float64(s.h.ValueAtQuantile(99)),
		name + "_max_ns": float64(s.h.Max()),
	}
}
