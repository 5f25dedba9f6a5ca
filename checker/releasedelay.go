package checker

import (
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// The monitor of release-delay judges that after a release with a delay no client, the releasing
// one included, is granted the key before the delay is over. A release that came after the lease,
// or was not answered ok, promises nothing.
var _ = monitorOf(releaseDelay, monitor{
	needs: hasDelay, lacks: "no release asked for a delay",
	untested: "no acquire fell into a release delay",
	on: [factKinds]func(*Checker, fact){
		factLettingGo:       delays,
		factInEffect:        grantedWithin,
		factAcquireReturned: delayMet,
		factForgotten:       func(_ *Checker, f fact) { f.key.delayed = nil },
	},
})

var grantedInDelay = kindOf(releaseDelay, TooShort, "%s released with a delay, and within it %s was granted the key")

// delays applies a release with a delay.
func delays(c *Checker, f fact) {
	h, op := f.hold, f.op
	if op == nil || op.Delay <= 0 {
		return
	}
	final := (!c.rules.Nested || !h.Uncertain) && !f.key.affected.LeftBy(h.client) // otherwise a level may be left
	if final && op.Outcome == history.OK && op.Return < h.Until && h.supersededBy == nil {
		f.key.delayed = op
	}
}

// grantedWithin reports a grant within the delay.
func grantedWithin(c *Checker, f fact) {
	d := f.key.delayed
	if d == nil || !interval.Call(d).Before(f.at) || f.at.T >= interval.After(d.Call, d.Delay) {
		return
	}
	if h := f.key.find(d.Hold); h != nil && f.hold.follows(h) {
		c.violate(candidate{kind: grantedInDelay, key: f.key, holds: []*hold{h, f.hold}, under: c.touching(h, f.hold)})
	}
}

// delayMet counts an acquire that overlaps the delay.
func delayMet(c *Checker, f fact) {
	answered := f.op.Outcome == history.OK || f.op.Outcome == history.Refused
	if d := f.key.delayed; d != nil && answered && f.op.Call < interval.After(d.Call, d.Delay) && d.Call < f.op.Return {
		c.expose(releaseDelay, c.touching(f.key.find(d.Hold))|c.meetings.own)
	}
}
