package checker

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// Finish ends the judgement and returns the verdicts. The Checker is spent until
// [Checker.Reset].
func (c *Checker) Finish(end history.End) Result {
	for _, k := range c.sorted() {
		c.settle(k, forever)
		if !c.partial {
			c.refusedFree(k)
		}
		c.unfinished(k)
	}
	c.result.Partial, c.result.Why = end.Partial, end.Why
	if !c.brief {
		c.crossCheck(end.Trailer)
		c.result.GrantsByClient = c.fair.shares()
	}
	for _, g := range guarantees {
		c.result.Findings = append(c.result.Findings, c.find(g.Name))
	}
	return c.result
}

// sorted are the keys in one order, for the same witness each time.
func (c *Checker) sorted() []*key {
	c.spare.sorted = slices.AppendSeq(c.spare.sorted[:0], maps.Values(c.keys))
	slices.SortFunc(c.spare.sorted, func(a, b *key) int { return cmp.Compare(a.name, b.name) })
	return c.spare.sorted
}

// unfinished settles what was still held when the record ended.
func (c *Checker) unfinished(k *key) {
	for i := len(k.holds) - 1; i >= 0; i-- {
		h := k.holds[i]
		if h.intruder != nil && !h.dead {
			c.overran(h, c.last)
		}
		c.drop(k, i)
	}
}

// overlap is how long the cores of a and b conflicted, in ns, up to last.
func overlap(a, b *hold, last stamp) int64 {
	begin := max(a.start.t, b.start.t)
	return max(0, min(a.coreEnd().t, b.coreEnd().t, last.t)-begin)
}

// judged is what is found of g but for measures and witness.
func (c *Checker) judged(g lockbench.Guarantee) Finding {
	t := c.tallies[g]
	f := Finding{
		Guarantee:  g,
		Claimed:    slices.Contains(c.header.Claims, g),
		Exposure:   t.exposure,
		Violations: t.violations + t.hazards,
		Exercised:  slices.Contains(c.header.Exercises, g) || c.header.Exercises == nil && t.exposure > 0,
	}
	f.Verdict, f.Note = c.verdict(g, t, f.Claimed)
	return f
}

func (c *Checker) find(g lockbench.Guarantee) Finding {
	f, t := c.judged(g), c.tallies[g]
	if c.brief {
		return f
	}
	f.Measures, f.When = c.measured(g), t.when
	switch {
	case len(t.broken) > 0:
		f.Witness = c.clearest(t.broken)
	case len(t.risky) > 0:
		f.Witness = c.clearest(t.risky)
	}
	return f
}

// verdict weighs one tally.
func (c *Checker) verdict(g lockbench.Guarantee, t *tally, claimed bool) (Verdict, string) {
	if why := c.cannot(g, claimed); why != "" && t.violations == 0 { // what was broken was there to be kept
		return NotApplicable, why
	}
	switch {
	case g == lockbench.Overrun && t.violations > 0 && !(c.header.Renews && claimed && t.violations > t.excused):
		return Hazard, "the lease ended before the work did, and another owner got in"
	case t.violations > 0:
		return Broken, c.slackNote(g)
	case t.hazards > 0 && c.faults.forgets == lockbench.Failover:
		return Hazard, "only across a failover, or by writes made after their writer's validity"
	case t.hazards > 0:
		return Hazard, "only by writes made after their writer's validity"
	case t.exposure > 0:
		return Held, c.slackNote(g)
	}
	if needsFaults(g) && !slices.Contains(c.faults.seen, g) {
		return Untested, "needs injected faults"
	}
	return Untested, untestedNotes[g]
}

// cannot says why g is not for this design to keep; empty when it is.
func (c *Checker) cannot(g lockbench.Guarantee, claimed bool) string {
	switch {
	case g == lockbench.Fairness:
		return "measured, not judged"
	case claimed:
	case g == lockbench.Reentrancy && !c.nested:
		return "the design does not count nested acquires"
	case g == lockbench.Extend && !c.ability.extend && !c.header.Renews:
		return "no lease was extended"
	case g == lockbench.Fencing && !c.ability.fence:
		return "no fence was handed out"
	case g == lockbench.ReleaseDelay && !c.ability.delay:
		return "no release asked for a delay"
	case g == lockbench.Effects && !c.ability.store:
		return "no guarded state was read or written"
	}
	return ""
}

// needsFaults tells whether g can be judged only where faults were injected.
func needsFaults(g lockbench.Guarantee) bool {
	switch g {
	case lockbench.Recovery, lockbench.Cancel, lockbench.LostReply, lockbench.Skew,
		lockbench.ScriptFlush, lockbench.Restart, lockbench.Failover:
		return true
	}
	return false
}

var untestedNotes = map[lockbench.Guarantee]string{
	lockbench.Exclusion:         "no acquire met a held lock",
	lockbench.Overrun:           "nobody worked past a lease",
	lockbench.OwnerRelease:      "no stale owner's release or extend met the next holder",
	lockbench.NoEarlyExpiry:     "no acquire met a lease that was not over",
	lockbench.LossReported:      "no owner that had lost the lock called again",
	lockbench.Extend:            "no acquire met an extended lease",
	lockbench.Reentrancy:        "no acquire met a lock after an inner release",
	lockbench.Fencing:           "no two grants with fences were ordered",
	lockbench.Effects:           "no client wrote after another",
	lockbench.NoSpuriousRefusal: "no acquire met a key that was provably free",
	lockbench.ReleaseDelay:      "no acquire fell into a release delay",
	lockbench.Recovery:          "no owner died with a lock or a call under way, or nobody was granted the key after that",
	lockbench.LostReply:         "no call lost its reply, or nobody else was granted the key after that",
	lockbench.Cancel:            "no acquire was cancelled under way, or nobody else was granted the key after that",
	lockbench.Skew:              "no acquire met a lock held under clocks that were off",
	lockbench.ScriptFlush:       "scripts were flushed while nothing was held or under way, or nothing was done after that",
	lockbench.Restart:           "no acquire met a lock that the server had forgotten",
	lockbench.Failover:          "no acquire met a lock that the lost primary had granted",
}

// slackNote says what was allowed for.
func (c *Checker) slackNote(g lockbench.Guarantee) string {
	if c.brief {
		return ""
	}
	slack := time.Duration(c.slack())
	switch g {
	case lockbench.NoSpuriousRefusal:
		return fmt.Sprintf("an unreleased lease counts as held for %v past its end", slack)
	case lockbench.Recovery, lockbench.LostReply, lockbench.Cancel:
		return fmt.Sprintf("obtainable within the granted lease and %v for polling, rounding and the design's tolerance", slack)
	case lockbench.Skew:
		return fmt.Sprintf("client clocks off by up to %v either way, so that two differ by up to %v", time.Duration(c.faults.skew), time.Duration(2*c.faults.skew))
	}
	return ""
}

func (c *Checker) measured(g lockbench.Guarantee) map[string]float64 {
	switch g {
	case lockbench.Overrun:
		return c.overlaps.measures("overlap")
	case lockbench.LossReported:
		return c.lossDelays.measures("delay")
	case lockbench.Fairness:
		return map[string]float64{
			"jain":         math.Round(c.fair.jain()*1000) / 1000,
			"waits":        float64(c.fair.waits),
			"max_wait_ns":  float64(c.fair.maxWait),
			"max_bypassed": float64(c.fair.bypassed),
		}
	}
	return nil
}

// Find returns the finding on g, and the zero Finding when there is none.
func (r Result) Find(g lockbench.Guarantee) Finding {
	for _, f := range r.Findings {
		if f.Guarantee == g {
			return f
		}
	}
	return Finding{Guarantee: g}
}

// The exit codes of a judgement.
const (
	ExitHeld         = 0 // every claim held that could be put to the test
	ExitBroken       = 1 // a claim is broken
	ExitInconclusive = 3 // too little to go by
)

// Exit is the exit code that r amounts to. A claim that was exercised and yet
// remains untested, a partial record, no grant at all and a defect of lockbench
// itself are inconclusive.
func (r Result) Exit() int {
	exit := ExitHeld
	if r.Grants == 0 || r.Partial || len(r.Defects) > 0 {
		exit = ExitInconclusive
	}
	for _, f := range r.Findings {
		switch {
		case f.Claimed && f.Verdict == Broken:
			return ExitBroken
		case f.Claimed && f.Exercised && f.Verdict == Untested:
			exit = ExitInconclusive
		}
	}
	return exit
}
