package machines

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// A probe compares two clocks, in ns: an agent sent a question at sent, the coordinator read its clock at
// the instant at, and the agent received the answer at received.
type probe struct{ sent, at, received int64 }

// bounds returns the least and the largest difference of the two clocks, the coordinator's less the
// agent's, that the probe permits. It assumes nothing about the paths of question and answer.
func (p probe) bounds() (least, largest int64) { return p.at - p.received, p.at - p.sent }

func (p probe) width() int64 { return p.received - p.sent }

// keptProbes is how many probes an agent keeps. Clocks drift, so that older ones say less.
const keptProbes = 16

// A comparison compares an agent's clock with the coordinator's. It is safe for concurrent use.
type comparison struct {
	mu     sync.Mutex
	began  time.Time // zero of the agent's clock
	probes []probe
	wall   int64 // the coordinator's wall clock less its other clock
}

func newComparison() *comparison { return &comparison{began: time.Now()} }

func (c *comparison) now() int64 { return int64(time.Since(c.began)) }

// add adds a probe that the agent has made from sent to now.
func (c *comparison) add(sent int64, answer instant) {
	received := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.probes) == keptProbes {
		c.probes = slices.Delete(c.probes, 0, 1)
	}
	c.probes = append(c.probes, probe{sent, answer.Clock, received})
	c.wall = answer.Wall - answer.Clock
}

// difference returns the middle and the width of the bounds of the narrowest probe, and false if there is
// none.
func (c *comparison) difference() (middle, width int64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.probes) == 0 {
		return 0, 0, false
	}
	p := slices.MinFunc(c.probes, func(a, b probe) int { return cmp.Compare(a.width(), b.width()) })
	least, largest := p.bounds()
	return least + (largest-least)/2, p.width(), true
}

// local returns the instant at which the coordinator's clock shows at, which is now without a probe.
func (c *comparison) local(at int64) time.Time {
	middle, _, known := c.difference()
	if !known {
		return time.Now()
	}
	return c.began.Add(time.Duration(at - middle))
}

// ahead returns how much this machine's wall clock is ahead of the coordinator's.
func (c *comparison) ahead() time.Duration {
	middle, _, known := c.difference()
	if !known {
		return 0
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	theirs := now.Sub(c.began).Nanoseconds() + middle + c.wall
	return time.Duration(now.UnixNano() - theirs)
}
