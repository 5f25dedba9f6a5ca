package checker

import (
	"math"

	"github.com/lockbench/lockbench/history"
)

// A simClient runs a random program against the simulated lock and records it as
// package history does, with the assignment and the known outcome of operations.
type simClient struct {
	w     *world
	id    int32
	steps int
	dead  bool
	busy  *history.Op // under way
	// grips are the held leases, newest last; old is one that was given up.
	grips []grip
	old   grip

	occupancy
	holds   int64
	hold    int64 // open, 0 when none
	lost    bool  // its owner was told of its loss
	read    uint64
	streams int32
}

// A grip is a client's view of one grant.
type grip struct {
	hold, token, ttl, asked int64
	fence                   uint64
}

func (c *simClient) begin(kind history.Kind, hold int64) *history.Op {
	at := c.w.stamp()
	op := &history.Op{
		Kind: kind, Client: c.id, Process: c.w.process(c.id), Stream: c.id, Key: "k", Hold: hold,
		Call: at.T, CallSeq: at.Seq, Return: history.Never, Attempt: history.NoStamp,
	}
	c.w.ops = append(c.w.ops, op)
	c.calls(op)
	return op
}

// end records the return of op, unless its client is dead by now, and goes on.
func (c *simClient) end(op *history.Op, o history.Outcome) (alive bool) {
	if c.dead {
		return false
	}
	at := c.w.stamp()
	op.Return, op.ReturnSeq, op.Outcome = at.T, at.Seq, o
	if c.busy == op {
		c.busy = nil
	}
	c.answered(op)
	return true
}

// outcome is the client's outcome for an answer, if the server answered said.
func outcome(a answer, said history.Outcome) history.Outcome {
	switch a {
	case arrived:
		return said
	case falsely:
		return history.OK
	case failed:
		return history.Failed
	}
	return history.Unknown
}

// next does the next thing after a pause.
func (c *simClient) next(pause int64) {
	c.w.later(pause, func() {
		if c.dead {
			return
		}
		if c.steps--; c.steps < 0 {
			c.finish()
			return
		}
		c.step()
	})
}

// finish releases all leases; some clients leave and let them expire.
func (c *simClient) finish() {
	if len(c.grips) > 0 && c.w.IntN(5) > 0 {
		c.release(0)
	}
}

func (c *simClient) think() { c.next(c.w.Int64N(4)) }

func (c *simClient) step() {
	n := c.w.IntN(100)
	switch {
	case n < 6 && c.w.plan.faults.pauses:
		c.pause()
	case n < 3 && c.w.plan.deaths:
		c.die()
	case n < 10 && c.old.token != 0 && c.old.hold != c.hold && c.w.plan.stale && c.w.plan.kind != "nested" && !(c.w.server.identity && c.w.plan.faults.any()):
		c.useOld()
	case len(c.grips) == 0 || n < 25:
		c.acquire()
	case n < 40:
		c.extend(c.grips[len(c.grips)-1])
	case n < 60 && c.w.plan.store:
		c.access()
	case n < 70:
		c.next(c.w.Int64N(40)) // a slow holder
	case n < 76 && c.w.plan.notices:
		c.notice()
	case n < 82 && c.w.plan.delays:
		c.release(1 + c.w.Int64N(20))
	default:
		c.release(0)
	}
}

func (c *simClient) die() {
	if c.dead {
		return
	}
	c.w.server.wedge(c.id, wedgesDead, c.w.now)
	c.w.server.dies(c.id, c.w.now)
	at := c.w.stamp()
	c.w.ops = append(c.w.ops, &history.Op{Kind: history.Death, Client: c.id, Stream: c.id, Call: at.T, CallSeq: at.Seq, Return: at.T})
	c.dead, c.sure, c.doubts = true, 0, c.doubts || c.flying > 0
}

// stream numbers work beside the client's own operations.
func (c *simClient) stream() int32 { return c.id + 100*c.streams }

func (c *simClient) lease() int64 {
	if c.w.plan.endless && c.w.IntN(4) == 0 {
		return 0
	}
	return 2 + c.w.Int64N(24)
}

func (c *simClient) acquire() {
	c.read = 0
	hold, joins := c.hold, c.hold != 0 && !c.lost && c.w.plan.kind != "refused"
	if !joins {
		c.holds++
		hold = int64(c.id)<<32 | c.holds
	}
	op := c.begin(history.Acquire, hold)
	c.busy = op
	op.Asked = c.lease() * tick
	if c.w.IntN(3) == 0 {
		if op.Wait = (1 + c.w.Int64N(30)) * tick; c.w.plan.patient {
			op.Wait *= 4
		}
	}
	c.attempt(op)
}

// attempt tries once, and again until the wait is over.
func (c *simClient) attempt(op *history.Op) {
	op.Attempts++
	asked, ttl := c.w.now, op.Asked/tick
	if c.w.plan.anchored || op.Wait == 0 {
		op.Attempt = asked * tick
	}
	var g grant
	refreshing := op.Hold == c.hold
	c.send(op, func(again bool) {
		c.w.server.refreshing = refreshing
		g = c.w.server.acquireOnce(g, again, c.id, asked, c.w.now, ttl)
		c.w.server.refreshing = false
	}, func(a answer) {
		again := a == arrived && g.token == 0 && !g.lost && c.w.now*tick < op.Call+op.Wait
		switch {
		case c.dead:
		case again && c.w.plan.fault == sleepsOn:
			c.w.server.faulted = true
			c.w.later(max(0, (op.Call+op.Wait)/tick-c.w.now), func() {
				if !c.dead {
					c.acquired(op, a, g)
				}
			})
		case again:
			c.w.later(c.w.Int64N(4), func() {
				if !c.dead {
					c.attempt(op)
				}
			})
		default:
			c.acquired(op, a, g)
		}
	})
}

func (c *simClient) acquired(op *history.Op, a answer, g grant) {
	said := history.OK
	switch {
	case g.lost:
		said = history.LossReported
	case g.token == 0:
		said = history.Refused
	}
	if c.end(op, outcome(a, said)); a == silent && c.w.plan.faults.swallows && op.Note != "" {
		op.Outcome = history.Refused
		c.w.server.faulted = true
	}
	switch op.Outcome {
	case history.LossReported:
		op.Hold, c.lost = 0, true
	case history.Refused, history.Failed:
		op.Hold = 0
	case history.OK:
		op.Granted = op.Asked
		if c.w.plan.fences {
			op.Fence = g.fence
		}
		if c.hold != op.Hold {
			c.hold, c.lost, c.grips = op.Hold, false, nil
		}
		if c.w.plan.kind != "nested" {
			c.grips = nil
		}
		c.grips = append(c.grips, grip{op.Hold, g.token, op.Asked / tick, c.asked, g.fence})
		if a == falsely {
			g.over = wrong{c.w.server.owner, math.MaxInt64, math.MaxInt64}
		}
		c.entered(op, g.over)
		if c.w.plan.renews {
			c.renewals(c.grips[len(c.grips)-1])
		}
	}
	c.think()
}

// release gives up the newest lease.
func (c *simClient) release(delay int64) {
	g := c.grips[len(c.grips)-1]
	op := c.begin(history.Release, g.hold)
	op.Delay, c.busy = delay*tick, op
	c.letGo(op, g, delay, func() {
		if op.Outcome != history.Failed {
			c.grips, c.old = c.grips[:len(c.grips)-1], g
		}
		if len(c.grips) == 0 {
			c.hold, c.lost = 0, false
		}
		c.lost = c.lost || op.Outcome == history.LossReported
		c.think()
	})
}

func (c *simClient) letGo(op *history.Op, g grip, delay int64, then func()) {
	var said history.Outcome
	act := func(again bool) { said = c.w.server.releaseOnce(said, again, g.token, c.w.now, delay) }
	c.send(op, c.under(g, act), func(a answer) {
		if c.end(op, outcome(a, said)) {
			then()
		}
	})
}

// useOld releases or extends a released lease once more.
func (c *simClient) useOld() {
	g := c.old
	if c.w.IntN(2) == 0 || c.w.server.identity {
		c.extend(g)
		return
	}
	op := c.begin(history.Release, g.hold)
	c.busy = op
	c.letGo(op, g, 0, c.think)
}

func (c *simClient) extend(g grip) {
	op := c.begin(history.Extend, g.hold)
	c.busy = op
	c.prolong(op, g, max(1, c.lease()), c.think)
}

func (c *simClient) prolong(op *history.Op, g grip, ttl int64, then func()) {
	said := history.Unknown
	if op.Kind == history.Extend { // a renewal does not say beforehand for how long
		op.Asked = ttl * tick
	}
	act := func(bool) { said = c.w.server.extend(g.token, c.w.now, ttl) }
	c.send(op, c.under(g, act), func(a answer) {
		if !c.end(op, outcome(a, said)) {
			return
		}
		if op.Outcome == history.OK {
			op.Granted = ttl * tick
			if n := len(c.grips); n > 0 && c.grips[n-1].token == g.token {
				c.believes(op.Call/tick, ttl)
			}
		}
		// The loss of an older grant does not concern a newer one that joined the
		// hold.
		if n := len(c.grips); op.Outcome == history.LossReported && g.hold == c.hold && n > 0 && c.grips[n-1].token == g.token {
			c.lost = true
		}
		then()
	})
}

// renewals prolongs g in the background until its hold is over.
func (c *simClient) renewals(g grip) {
	if g.ttl == 0 {
		return
	}
	c.w.later(1+c.w.Int64N(g.ttl), func() { // not at the instant of the grant, which a tie would hide
		n := len(c.grips)
		if c.dead || c.steps < 0 || n == 0 || c.grips[n-1] != g || c.lost || c.busy != nil && c.busy.Kind == history.Release {
			return
		}
		c.streams++
		op := c.begin(history.Renew, g.hold)
		op.Stream = c.stream()
		if c.w.plan.hidden {
			c.w.ops = c.w.ops[:len(c.w.ops)-1]
		}
		c.prolong(op, g, g.ttl, func() {
			if op.Outcome != history.LossReported {
				c.renewals(g)
			}
		})
	})
}

// notice is told of the loss of the newest lease, when it is one.
func (c *simClient) notice() {
	g := c.grips[len(c.grips)-1]
	if !c.lost && c.w.server.notices(g.token, c.w.now) {
		op := c.begin(history.Lost, g.hold)
		op.Return, op.ReturnSeq, c.lost = op.Call, op.CallSeq, true
	}
	c.think()
}

// access reads the guarded record, or writes it after having read it.
func (c *simClient) access() {
	if c.read == 0 {
		c.fetch()
		return
	}
	c.put()
}

func (c *simClient) fetch() {
	op := c.begin(history.Read, c.hold)
	c.busy = op
	var version uint64
	c.w.transmit(func() { version = c.w.version }, func(a answer) {
		if !c.end(op, outcome(a, history.OK)) {
			return
		}
		if op.Outcome == history.OK {
			op.Version, c.read = version, version
		}
		c.next(c.w.Int64N(2))
	}, false)
}

func (c *simClient) put() {
	g := c.grips[len(c.grips)-1]
	op := c.begin(history.Write, c.hold)
	c.w.written++
	op.Version, op.Base, c.busy = c.w.written, c.read, op
	if c.w.plan.guarded {
		op.Fence = g.fence
	}
	said := history.OK
	c.w.transmit(func() {
		if op.Fence > 0 && op.Fence < c.w.floor {
			said = history.Failed
			return
		}
		c.w.version, c.w.floor = op.Version, max(c.w.floor, op.Fence)
	}, func(a answer) {
		if c.end(op, outcome(a, said)) {
			c.read = 0
			c.next(c.w.Int64N(2))
		}
	}, false)
}
