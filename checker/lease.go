package checker

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/pending"
)

// The monitor of lease judges that no other client is granted the key before the granted lease, as
// extended, is over. attribution.go has the other explanations of an early grant.
var _ = monitorOf(leaseKept, monitor{
	needs: hasLease, lacks: "the lock has no lease: what it grants lasts as long as its owner's session",
	untested: "no acquire met a lease that was not over",
	on: [factKinds]func(*Checker, fact){
		factGrantedAfterFault: grantedThoughCancelled,
		factGrantedEarly:      func(c *Checker, f fact) { c.explain(earlyGrants, f) },
	},
})

// Kinds of violation.
var (
	grantedEarly         = kindOf(leaseKept, TooShort, "the lease of %s was not over when %s was granted the key")
	extendBroken         = kindOf(leaseKept, TooShort, "%s had extended its lease, yet %s was granted the key before the end")
	grantedCancelled     = kindOf(leaseKept, TooShort, "the acquire by %s was cancelled and yet granted, within the lease of %s")
	cancelledGaveNothing = kindOf(leaseKept, TooShort, "the acquire by %s was cancelled and yet granted, and within its lease %s was granted the key")
	lostReplyGave        = kindOf(leaseKept, TooShort, "the reply to %s was lost or not waited for, and within the lease of %s %s was granted the key")
)

// grantedThoughCancelled counts a grant to a cancelled call: its lease must be kept like any other.
func grantedThoughCancelled(c *Checker, f fact) {
	cancelled := func(x pending.Effect) bool { return x.Op == f.op && x.Cause == lockbench.Cancel }
	if c.ability&hasLease != 0 && slices.ContainsFunc(f.key.affected, cancelled) {
		c.expose(leaseKept, lockbench.Cancel|c.faults.Lasting())
	}
}
