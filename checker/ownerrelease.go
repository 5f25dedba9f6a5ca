package checker

import (
	"github.com/lockbench/lockbench/history"
)

// The monitor of owner-release judges that a release or extend by a past owner does nothing to the
// next owner: if it is called within the next owner's must-hold interval, it must not end that
// owner's hold. attribution.go finds the violation when the next owner loses the key, or another
// client is granted it.
var _ = monitorOf(ownerRelease, monitor{
	untested: "no stale owner's release or extend met the next holder",
	on: [factKinds]func(*Checker, fact){
		factStaleCalled: staleInto,
		factTakenAway:   tookAway,
	},
})

// Kinds of violation.
var (
	freedByPastOwner       = kindOf(ownerRelease, TooShort, "%s had lost the key, yet what it sent took it from %s, and %s was granted it")
	lostToPastOwner        = kindOf(ownerRelease, TooShort, "%s had lost the key, yet what it sent took it from %s")
	takenOnServer          = kindOf(ownerRelease, TooShort, "%s had lost the key, yet what it sent took it on the server from %s")
	overlappingByStaleCall = kindAndOccasion(ownerRelease, TwoAtOnce, "%s and %s held the key at the same time, both within their validity, which what a past owner sent may have done", exclusion)
	lostToStaleCall        = kindAndOccasion(ownerRelease, TooShort, "%s was told that it had lost the key, which only what others had sent before it was granted it can have taken", lossReported)
	lostReplyTook          = kindAndOccasion(ownerRelease, ToldWrong, "the reply to %s was lost or not waited for, and what it sent took the key from %s", lossReported)
)

// staleInto marks each hold of another client if f.op was called within its must-hold interval. An
// owner that had died or been told of a loss is not harmed, but f.op may explain why its lease
// ended early.
func staleInto(c *Checker, f fact) {
	h, op := f.hold, f.op
	if op.Outcome == history.Failed {
		return
	}
	for next := range f.key.others(h.client) {
		if !next.Confirmed || !h.Granted.Before(next.Granted) || !next.Granted.Before(f.at) {
			continue
		}
		if !next.MustHoldAt(f.at) {
			next.staleConcurrent = next.staleConcurrent || next.Ended && op.Outcome != history.LossReported
			continue
		}
		by := c.touching(h) | h.outlivedAt(f.at)
		c.expose(ownerRelease, c.touching(next)|by)
		if op.Outcome != history.LossReported && next.staleOp == nil {
			next.staleOp, next.pastOwner, f.key.chained = op, h, true
			next.under |= by // whatever follows is also touched by the conditions of the past owner
		}
	}
}

// tookAway judges a command that was seen to take the key on the server itself. The owner may not
// notice before its lease is over, and no other client may acquire the key by then. Whatever follows
// is also touched by the conditions of the past owner, such as what the owner sends into the next hold.
func tookAway(c *Checker, f fact) {
	under := c.touching(f.hold, f.other) | f.other.outlivedAt(f.at)
	f.hold.under |= under
	if !f.hold.MustHoldAt(f.at) { // it was being released, or its lease was over
		return
	}
	c.expose(ownerRelease, under)
	c.violate(candidate{kind: takenOnServer, key: f.key, ops: []*history.Op{f.op, f.hold.ops[0], c.takeEvent}, under: under})
	if f.hold.staleOp == nil {
		f.hold.staleOp, f.hold.pastOwner, f.key.chained = f.op, f.other, true
	}
	f.hold.staleCounted = f.hold.staleCounted || f.hold.staleOp == f.op
}
