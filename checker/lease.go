package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// leaseMonitor judges that nobody else is granted the key before the granted lease, extended
// or not, is over. What else may explain an early grant is in attribution.go.
var leaseMonitor = monitor{
	judges:   leaseKept,
	untested: "no acquire met a lease that was not over",
	on: [factKinds]func(*Checker, fact){
		factAcquireReturned: leaseMet,
		factGrantedEarly:    func(c *Checker, f fact) { c.explain(earlyGrants, f) },
	},
}

// leaseMet counts the leases that an acquire met, and a grant to a call that was cancelled,
// which is to be kept like any.
func leaseMet(c *Checker, f fact) {
	c.met.lease.expose(c, leaseKept)
	cancelled := func(x faultEffect) bool { return x.op == f.op && x.cause == lockbench.Cancel }
	if f.op.Outcome == history.OK && slices.ContainsFunc(f.key.affected, cancelled) {
		c.expose(leaseKept, lockbench.Cancel|c.faults.lasting())
	}
}
