// Package budget divides the time that a run may take in all among what it consists of: the exploration of
// its designs, the live run of each, and those of locks that are broken on purpose.
package budget

import (
	"fmt"
	"runtime"
	"time"

	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

const (
	// exploreShare of the whole is for exploration.
	exploreShare = 1. / 4
	// longestExplore is for how long a design is explored at most: live runs have the rest.
	longestExplore = 10 * time.Second
	// guarded is how much longer the exploration of a design takes than it was given: what is behind
	// a guard comes on top.
	guarded = 1.5

	// begin is for starting servers, and for what is asked of them before the first run.
	begin = time.Second
	// overhead is what a live run takes beside the time of its clients: it waits for what was left
	// held, and is judged.
	overhead = 600 * time.Millisecond
	// shortest is how long clients must run to say anything, and periods how often a job must come
	// round.
	shortest = time.Second
	periods  = 3
)

// Divide sets the length of the runs of a plan so that all together take about total, the self-check and
// exploration among it. It returns for how long each design is to be explored: as long as fixed says,
// or, where that is negative, so that a quarter of the time goes there. The error says that total is too
// little, and what is not.
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

// costs are what the time of a plan goes to.
type costs struct {
	options workloads.Options
	// runs are the live ones, broken those of locks that are broken on purpose: one, and one more for
	// each fault at most.
	runs, broken time.Duration
	// explored is how long exploration takes in all, in times of what each design is given.
	explored float64
	// stalled is how long stallers take, however short the run, and proof how long it takes at
	// most, as a rule, until a broken lock is caught.
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

// exploring is how long exploration takes in all.
func (c *costs) exploring(each time.Duration) time.Duration {
	return time.Duration(c.explored * float64(each))
}

// of is how long all live runs take, whose clients run for so long each.
func (c *costs) of(length time.Duration) time.Duration {
	one := max(length, c.stalled) + overhead
	proof := max(min(length, c.proof), c.stalled) + overhead
	return begin + c.runs*one + c.broken*proof
}

// length is for how long the clients of each run may run where all runs have so long together, to a
// hundredth of a second; zero where that is too little.
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
