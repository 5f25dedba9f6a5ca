package checker

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// The monitor of wake-up judges that a waiter is granted a key that becomes free during its wait: soon after, as soon as
// the lock promises (the header's wakes), and else before half of its wait has gone by in which nobody had the key.
// Where answers come late, because of a fault or since a machine stands still, that much more is allowed for.
var _ = monitorOf(wakeUp, monitor{
	needs: hasWait, lacks: "no acquire was given a wait",
	untested: "no key became free while an acquire waited for it",
	allowed: func(c *Checker) string {
		return fmt.Sprintf("a waiter may take %v longer than the lock promises", time.Duration(c.wakeSlack()))
	},
	measures: "free for a waiter",
	on: [factKinds]func(*Checker, fact){
		factAcquireCalled:   func(c *Checker, f fact) { f.key.waits.Called(f.op); c.noteAbility(hasWait, f.op.Wait > 0) },
		factAcquireReturned: waitEnded,
		factLettingGo:       func(_ *Checker, f fact) { f.key.waits.LetGo(f.op) },
	},
})

// The ways to break it.
var (
	wokenLate  = kindOf(wakeUp, Stuck, "%s waited on while nobody held the key, and was granted it too late")
	neverWoken = kindOf(wakeUp, Stuck, "%s waited on while nobody held the key, and was refused it")
	waitedLeft = kindOf(wakeUp, Stuck, "%s waited on for a key that nobody held, and that a fault may have left so", recovery)
)

// wakeSlack is added to the promise of the lock about its waiters, in ns.
func (c *Checker) wakeSlack() int64 { return int64(refusalSlack) + c.header.ToleranceNS }

// waitEnded applies the return of acquire f.op, which is granted the key from its last attempt on, or refused it.
func waitEnded(c *Checker, f fact) {
	k, op, end := f.key, f.op, f.op.Return
	k.waits.Returned(op)
	if op.Outcome == history.OK {
		end = interval.Start(op)
	}
	if c.ability&hasWait == 0 || c.faults.Delayed {
		return
	}
	if from, free := c.freeSince(k); free {
		k.waits.Free(op, from, end)
	}
	granted := op.Outcome == history.OK
	if op.Wait <= 0 || !granted && op.Outcome != history.Refused || k.affected.On(op) != nil || c.faults.clients.Get(op.Client).PausedDuring(op) {
		return
	}
	over := interval.After(op.Call, op.Wait)
	first, span := k.waits.Within(op, min(end, over))
	if span.Length() <= 0 { // it had no reason to wait, or no chance
		return
	}
	under := c.faults.happened()
	most := interval.After(pending.WaitBound(op, c.header.WakesNS), c.wakeSlack()+c.faults.standstills.Within(span.From, span.Until)+c.faults.idleTime.Within(span.From, span.Until))
	late := span.Length() > most
	if late || over-first.From > most { // else its wait ends too early to tell
		c.expose(wakeUp, under)
		if granted && op.Attempt != history.NoStamp {
			c.measure(wakeUp, under, span.Length())
		}
	}
	if !late {
		return
	}
	v := candidate{kind: neverWoken, key: k, ops: k.waits.Freed(op), under: under}
	if left, _ := c.leftBy(k); left != 0 {
		v.kind = waitedLeft
	} else if granted {
		v.kind = wokenLate
	}
	c.violate(v)
}

// freeSince returns since when nobody has had k for certain, but for what acquires under way were granted.
func (c *Checker) freeSince(k *key) (from int64, free bool) {
	if c.partial || k.refusal.UnknownAcquires > 0 || k.affected.Unbounded() {
		return 0, false
	}
	s := k.refusal.FreeFrom()
	for _, h := range k.holds {
		s = interval.Later(s, h.Freed(k.refusal.Slack))
	}
	return s.T, s.Before(interval.Forever)
}
