package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/pending"
)

// leaseMonitor judges that nobody else is granted the key before the granted lease, extended
// or not, is over. What else may explain an early grant is in attribution.go.
var leaseMonitor = monitor{
	needs: hasLease, lacks: "the lock has no lease: what it grants lasts as long as its owner's session",
	untested: "no acquire met a lease that was not over",
	on: [factKinds]func(*Checker, fact){
		factObtained:     obtainedThoughCancelled,
		factGrantedEarly: func(c *Checker, f fact) { c.explain(earlyGrants, f) },
	},
}

// obtainedThoughCancelled counts a grant to a call that was cancelled: it is to be kept like any.
func obtainedThoughCancelled(c *Checker, f fact) {
	cancelled := func(x pending.Effect) bool { return x.Op == f.op && x.Cause == lockbench.Cancel }
	if c.ability&hasLease != 0 && slices.ContainsFunc(f.key.affected, cancelled) {
		c.expose(leaseKept, lockbench.Cancel|c.faults.lasting())
	}
}
