package checker

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// The monitor of wake-up judges that a waiter is granted a key that becomes free while it waits:
// within the time that the lock promises (WakesNS of the header), by default half of its wait. Only
// time in which no client had the key counts. Delays by faults and standstills extend the bound.
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

// Kinds of violation.
var (
	wokenLate  = kindOf(wakeUp, Stuck, "%s waited on while nobody held the key, and was granted it too late")
	neverWoken = kindOf(wakeUp, Stuck, "%s waited on while nobody held the key, and was refused it")
	waitedLeft = kindOf(wakeUp, Stuck, "%s waited on for a key that nobody held, and that a fault may have left so", recovery)
)

// wakeSlack returns the time, in ns, that is added to the bound.
func (c *Checker) wakeSlack() int64 { return int64(refusalSlack) + c.header.ToleranceNS }

// waitEnded judges the wait of acquire f.op, which returned: it was granted the key from its last
// attempt on, or refused.
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
	if span.Length() <= 0 { // it had no reason to wait, or no chance to get the key
		return
	}
	under := c.faults.happened()
	most := interval.After(pending.WaitBound(op, c.header.WakesNS), c.wakeSlack()+c.faults.standstills.Within(span.From, span.Until)+c.faults.idleTime.Within(span.From, span.Until))
	late := span.Length() > most
	if late || over-first.From > most { // otherwise its wait is too short to tell
		c.expose(wakeUp, under)
		if granted && op.Attempt != history.NoStamp {
			c.measure(wakeUp, under, span.Length())
		}
	}
	if !late {
		return
	}
	v := candidate{kind: neverWoken, key: k, ops: k.waits.Freed(op), under: under}
	if left, _ := c.leftBy(k, op); left != 0 {
		v.kind = waitedLeft
	} else if granted {
		v.kind = wokenLate
	}
	c.violate(v)
}

// freeSince returns the stamp, in ns, since when no client has certainly held k, apart from grants
// to acquires under way.
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
