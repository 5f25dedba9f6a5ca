package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// The monitor of recovery judges that a key without a living owner becomes free. A refusal of a
// provably free key, which nospuriousrefusal.go finds, breaks recovery if a fault may explain the
// state of the key.
var _ = monitorOf(recovery, monitor{
	untested: "no owner died or lost a reply with a lock or a call under way, or nobody was granted the key after that",
	allowed: func(c *Checker) string {
		if c.ability&hasLease == 0 {
			return fmt.Sprintf("obtainable within %v of the owner's death, for polling and the design's tolerance", time.Duration(c.slack()))
		}
		return fmt.Sprintf("obtainable within the granted lease and %v for polling, rounding and the design's tolerance", time.Duration(c.slack()))
	},
	on: [factKinds]func(*Checker, fact){
		factGrantedAfterFault: recovered,
	},
})

// Kinds of violation.
var (
	refusedDead      = kindAndOccasion(recovery, Stuck, "%s died, its lease was long over, and %s was refused the key")
	refusedThread    = kindAndOccasion(recovery, Stuck, "%s died in a process that lives on, its lease was long over, and %s was refused the key")
	refusedLost      = kindAndOccasion(recovery, Stuck, "the reply to %s was lost, no lease could have lasted, and %s was refused the key")
	refusedCancelled = kindAndOccasion(recovery, Stuck, "the acquire by %s was cancelled or timed out, no lease could have lasted, and %s was refused the key")
	refusedLeft      = kindAndOccasion(recovery, Stuck, "%s was refused a key that nobody held, which one of many faults may have left so", noSpuriousRefusal)
)

// recovered applies that f.op was granted the key. Earlier faults on other clients have no effect
// any more, and recovery was exposed. An effect stays if the grant may have come before it.
func recovered(c *Checker, f fact) {
	if c.faults.ForgotSince(interval.Call(f.op)) != 0 { // the grant may be older than the loss of grants
		return
	}
	surely := interval.After(interval.Start(f.op), interval.Lease(f.op)) // the earliest end of its lease
	for _, other := range c.faults.clients.Get(f.op.Client).UnderWay {
		if other != f.op && other.Key == f.op.Key && interval.SetsLease(other) {
			surely = min(surely, interval.After(other.Call, interval.Lease(other)))
		}
	}
	if h := f.key.find(f.op.Hold); h != nil && h.From != history.NoStamp {
		surely = min(surely, h.Until)
	}
	var under lockbench.Conditions
	for i := range f.key.affected {
		x := &f.key.affected[i]
		if x.Superseded || x.Op.Client == f.op.Client || x.Bounded && surely <= x.Acted().T {
			continue
		}
		x.Superseded = x.Bounded // otherwise the affected operation goes on, and may still do harm
		under |= c.resolved(x.Cause, x.Op.Client)
	}
	if under != 0 && f.key.refusal.recovering != f.op {
		c.expose(recovery, under|c.answering(f.op))
	}
}

// leftBy returns the conditions of all effects that may explain the state of k as acquire op meets
// it, and the last of these effects; nil if there is none. The death of an owner explains that state
// better than the death of a client whose acquire had no answer. A fault on a call of op's own client
// explains nothing if the client was granted the key since, and never released it.
func (c *Checker) leftBy(k *key, op *history.Op) (under lockbench.Conditions, last *pending.Effect) {
	under = k.unknown.left
	for i := range k.affected {
		if x := &k.affected[i]; !x.Superseded {
			if x.Under != nil { // a failover may have brought it back
				under |= *x.Under & lockbench.Failover
			}
			under |= c.resolved(x.Cause, x.Op.Client)
			if cl := c.faults.clients.Find(x.Op.Client); cl != nil && cl.Dead {
				under |= c.deathCondition(x.Op.Client)
			}
			if k.keptSince(x.Op, op.Client) {
				continue
			}
			if last == nil || !last.OwnerDied() || x.Cause != pending.Died || x.OwnerDied() {
				last = x
			}
		}
	}
	return under, last
}

// keptSince reports whether the client of op is the given one, was granted the key after the call of
// op, and has not released it: it may be refused because of that, lease or not.
func (k *key) keptSince(op *history.Op, client int32) bool {
	return op.Client == client && slices.ContainsFunc(k.holds, func(h *hold) bool {
		return h.client == client && h.Confirmed && !h.Released && interval.Call(op).Before(h.Granted)
	})
}

// refusedBy returns the kind of a refusal that x may have caused.
func (c *Checker) refusedBy(x *pending.Effect) *kind {
	switch {
	case x.Cause == lockbench.Cancel:
		return refusedCancelled
	case x.Cause == lockbench.LostReply:
		return refusedLost
	case c.deathCondition(x.Op.Client) == lockbench.ThreadDeath:
		return refusedThread
	}
	return refusedDead
}
