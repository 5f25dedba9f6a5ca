// Package budget divides the total time of a run between its parts: the exploration of its designs,
// the live run of each, and the runs of locks that are broken on purpose. It computes with plans
// alone and knows no flags, so it is not part of the command, its only user.
package budget

import (
	"fmt"
	"runtime"
	"time"

	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

const (
	// exploreShare is the share of the total for exploration.
	exploreShare = 1. / 4
	// longestExplore bounds the time to explore a design: live runs have the rest.
	longestExplore = 10 * time.Second
	// guarded is the ratio of the time that the exploration of a design takes to the time given to
	// it: schedules with a guard come on top.
	guarded = 1.5

	// begin is the time to start servers and to query them before the first run.
	begin = time.Second
	// overhead is the time that a live run takes beside its clients' time: it waits for keys that
	// were left held, and is judged.
	overhead = 600 * time.Millisecond
	// shortest is the least time that clients must run for a meaningful result, and periods the
	// least number of rounds of a job.
	shortest = time.Second
	periods  = 3
)

// Divide sets the length of the runs of a plan so that everything takes about total, the self-check
// and exploration included. It returns the time to explore each design: fixed, or, if that is
// negative, a time that adds up to a quarter of the total. The error says that total is too little,
// and names a total that is enough.
func Divide(total time.Duration, p *runner.Plan, fixed time.Duration) (explore time.Duration, err error) {
	c := newCosts(p)
	least := max(shortest, periods*p.Options.Period)
	if explore = fixed; fixed < 0 && c.explored > 0 {
		explore = min(longestExplore, time.Duration(exploreShare*float64(total)/c.explored))
	}
	explore = max(explore, 0)
	length := c.length(total - c.exploring(explore))
	if length >= least {
		p.Options.Duration = length
		return explore, nil
	}
	enough := c.of(least)
	switch {
	case fixed >= 0:
		enough += c.exploring(fixed)
	case c.explored > 0:
		enough = time.Duration(float64(enough) / (1 - exploreShare))
	}
	return 0, fmt.Errorf("--budget %v: too little for %d runs of %v at least, and the self-check; hint: --budget %v, or fewer designs",
		total, len(p.Subjects), least, enough.Truncate(time.Second)+time.Second)
}

// costs are the parts of a plan's time.
type costs struct {
	options workloads.Options
	// runs is the number of live runs, broken the number of runs of locks that are broken on
	// purpose: one, and at most one more for each fault.
	runs, broken time.Duration
	// explored is the time of all exploration, in multiples of the time given to each design.
	explored float64
	// stalled is the least time that stallers take, and proof the usual bound on the time until a
	// broken lock is caught.
	stalled, proof time.Duration
}

func newCosts(p *runner.Plan) costs {
	c := costs{options: p.Options.OrDefaults(), runs: time.Duration(len(p.Subjects)), broken: 1 + time.Duration(len(p.Faults))}
	if s, some := c.options.Stalled(); some {
		c.stalled = time.Duration((s.SlowFactor + 0.25) * float64(s.TTL))
	}
	slow := time.Duration(c.options.SlowFactor * float64(c.options.TTL+time.Second))
	c.proof = max(6*time.Second, c.options.Warmup+3*slow)
	names := make(map[string]bool)
	for i := range p.Subjects {
		if d := &p.Subjects[i].Design; d.Control == "" && d.Explorable() == nil {
			names[d.Name] = true
		}
	}
	if n := len(names); n > 0 {
		c.explored = guarded * float64(n) / float64(min(runtime.NumCPU(), n))
	}
	return c
}

// exploring returns the time of all exploration.
func (c *costs) exploring(each time.Duration) time.Duration {
	return time.Duration(c.explored * float64(each))
}

// of returns the time of all live runs, if the clients of each run for length.
func (c *costs) of(length time.Duration) time.Duration {
	one := max(length, c.stalled) + overhead
	proof := max(min(length, c.proof), c.stalled) + overhead
	return begin + c.runs*one + c.broken*proof
}

// length returns the time that the clients of each run may run, if all runs have total together, to
// a hundredth of a second; zero if that is too little.
func (c *costs) length(total time.Duration) time.Duration {
	const step = 10 * time.Millisecond
	low, high := time.Duration(0), max(total, 0)/step
	for low < high {
		if middle := (low + high + 1) / 2; c.of(middle*step) <= total {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low * step
}
