package checker

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
)

// Faults built into the simulated lock that only a fault from outside lets happen.
const (
	wedgesDead      mutation = "the lease of a dead owner never ends"
	wedgesLost      mutation = "a grant whose reply is lost never ends"
	wedgesCancelled mutation = "a cancelled grant never ends"
	retryFrees      mutation = "a release tried again frees whoever holds"
	retryTakes      mutation = "an acquire tried again takes a held key"
	grantsCancelled mutation = "a cancelled acquire is answered ok"
	forgets         mutation = "a restart forgets"
	endsStepped     mutation = "a step of the server's clock ends leases"
	failsFlushed    mutation = "a call fails after a flush"
	tellsRefused    mutation = "an acquire whose reply is lost is told to be refused"
	refusesFlushed  mutation = "a free key is refused after a flush"
	trustsClocks    mutation = "clients judge a lease by their clocks"
)

// The notes of the faults that befall simulated histories.
const (
	lostReply   = string(fault.LostReply)
	cutOff      = string(fault.Cut)
	cancelled   = string(fault.Cancel)
	runLate     = fault.RunsLate
	scriptFlush = string(fault.ScriptFlush)
	restarted   = string(fault.Restart)
	evicting    = fault.Evicting
	evicted     = string(fault.Evict)
	stepping    = fault.Stepping
	clockStep   = string(fault.ClockStep)
	failedOver  = string(fault.Failover)
	clockSkew   = string(fault.Skew)
)

// faultPlan is which faults befall a simulated history, by their notes.
type faultPlan struct {
	onCalls  []string // on calls: lostReply, cutOff, cancelled
	percent  int      // of the requests
	worldly  []string // scriptFlush, restarted, evicted, failedOver, clockStep, clockSkew
	deaths   bool     // at any time
	pauses   bool
	forgets  bool // a fault makes the server forget its grants
	threads  bool // clients share processes
	retries  bool // a call with a lost reply is tried again within
	swallows bool // an acquire without an answer is told to be refused
}

func (p faultPlan) any() bool { return p.deaths || p.pauses || len(p.onCalls)+len(p.worldly) > 0 }

func (p faultPlan) names() []string {
	names := slices.Concat(p.onCalls, p.worldly)
	if p.deaths {
		names = append(names, "die")
	}
	return names
}

func (p faultPlan) has(note string) bool {
	return slices.Contains(p.onCalls, note) || slices.Contains(p.worldly, note)
}

// A mixture is the set of faults of a simulated history in addition to those that its
// mutation needs.
type mixture uint8

const (
	alone          mixture = iota // nothing
	amidFaults                    // any mix of faults
	amidForgetting                // a mix in which the server forgets its grants
)

func drawFaults(r *rand.Rand, fault mutation, others mixture) faultPlan {
	p := faultsFor(r, fault)
	if others != alone {
		p.mix(r, others)
	}
	return p
}

// mix adds faults to p.
func (p *faultPlan) mix(r *rand.Rand, others mixture) {
	if p.percent == 0 {
		p.percent = 5 + r.IntN(20)
	}
	for _, note := range []string{lostReply, cutOff, cancelled} {
		if r.IntN(3) == 0 && !p.has(note) {
			p.onCalls = append(p.onCalls, note)
		}
	}
	for _, note := range []string{scriptFlush, restarted, evicted, failedOver, clockSkew} {
		if r.IntN(5) == 0 && !p.has(note) {
			p.worldly = append(p.worldly, note)
		}
	}
	p.deaths, p.pauses = p.deaths || r.IntN(2) == 0, r.IntN(3) == 0
	p.forgets, p.threads = r.IntN(3) > 0, r.IntN(2) == 0
	if others == amidForgetting {
		p.forgets = true
		if note := []string{restarted, evicted, failedOver}[r.IntN(3)]; !p.has(note) {
			p.worldly = append(p.worldly, note)
		}
	}
}

// faultsFor draws the faults that the mutation needs.
func faultsFor(r *rand.Rand, fault mutation) faultPlan {
	p := faultPlan{percent: 5 + r.IntN(20), retries: r.IntN(2) == 0, swallows: r.IntN(4) == 0}
	switch fault {
	case sound:
		if r.IntN(2) == 0 {
			return faultPlan{}
		}
		for _, note := range []string{lostReply, cutOff, cancelled} {
			if r.IntN(3) == 0 {
				p.onCalls = append(p.onCalls, note)
			}
		}
		for _, note := range []string{scriptFlush, restarted, evicted, failedOver, clockStep, clockSkew} {
			if r.IntN(5) == 0 {
				p.worldly = append(p.worldly, note)
			}
		}
		p.deaths, p.pauses = r.IntN(2) == 0, r.IntN(3) == 0
		p.forgets, p.threads = r.IntN(3) > 0, r.IntN(2) == 0
	case wedgesDead:
		p.deaths = true
	case wedgesLost:
		p.onCalls = []string{lostReply}
	case tellsRefused:
		p.onCalls, p.retries, p.swallows = []string{lostReply, cutOff}, false, true
	case retryFrees, retryTakes:
		p.onCalls, p.retries = []string{lostReply}, true
	case wedgesCancelled, grantsCancelled:
		p.onCalls = []string{cancelled}
	case forgets:
		p.worldly = []string{restarted}
	case endsStepped:
		p.worldly = []string{clockStep}
	case failsFlushed, refusesFlushed:
		p.worldly = []string{scriptFlush}
	case trustsClocks:
		p.worldly = []string{clockSkew}
	default:
		return faultPlan{}
	}
	return p
}

// fault records a fault event on a stream of its own, because it may come in the
// middle of a call.
func (w *world) fault(client int32, note string, value int64) *history.Op {
	at := w.stamp()
	op := &history.Op{
		Kind: history.Fault, Outcome: history.OK, Client: client, Process: w.process(client), Stream: 10_000 + client,
		Call: at.T, CallSeq: at.Seq, Return: at.T, ReturnSeq: at.Seq, Attempt: history.NoStamp, Note: note, Value: value,
	}
	w.ops = append(w.ops, op)
	return op
}

// process is the process of client.
func (w *world) process(client int32) int32 {
	if w.plan.faults.threads && client > 0 {
		return 1000 + client/2
	}
	return client
}

// beginFaults schedules the server's faults at about then, and deaths of clients.
func (w *world) beginFaults(then int64) {
	p := w.plan.faults
	if p.has(clockSkew) {
		w.server.offsets = map[int32]int64{}
		for _, c := range w.clients {
			offset := w.Int64N(20) - 10
			w.server.offsets[c.id] = offset
			w.fault(c.id, clockSkew, offset*tick)
		}
	}
	if p.has(restarted) {
		w.later(then, func() {
			w.fault(-1, restarted, 0)
			w.forgets(w.now)
			w.server.restart()
		})
	}
	if p.has(evicted) {
		at := w.Int64N(60)
		w.later(at, func() {
			w.fault(-1, evicting, 0)
			w.forgets(at + 5)
		})
		w.later(at+1, w.server.restart)
		w.later(at+2+w.Int64N(3), func() { w.fault(-1, evicted, 0) })
	}
	if p.has(failedOver) {
		at, kept := w.Int64N(60), w.server
		w.later(max(0, at-w.Int64N(10)), func() { kept = w.server })
		w.later(at, func() {
			w.fault(-1, failedOver, 0)
			w.forgets(w.now)
			w.server.restore(&kept)
		})
	}
	if p.has(clockStep) {
		w.later(then, w.stepClock)
	}
	if p.has(scriptFlush) {
		w.later(then, func() {
			w.fault(-1, scriptFlush, 0)
			w.server.flushed = true
		})
	}
	if p.deaths {
		for _, c := range w.clients[1:] {
			if w.IntN(2) == 0 {
				w.later(w.Int64N(60), c.die)
			}
		}
	}
}

// stepClock steps the server's clock ahead or back, within a few ticks.
func (w *world) stepClock() {
	by := w.Int64N(40) - 20
	if w.server.fault == endsStepped {
		by = 5 + w.Int64N(40)
	}
	w.fault(-1, stepping, by*tick)
	w.later(w.Int64N(3), func() {
		w.server.step(w.now, by)
		w.later(w.Int64N(3), func() { w.fault(-1, clockStep, by*tick) })
	})
}

// step lengthens the rest of a lease by a step back; a step ahead shortens it only if
// that is the fault.
func (s *lockServer) step(now, by int64) {
	if by > 0 && s.fault != endsStepped {
		return
	}
	s.faulted = s.faulted || by > 0 && s.owner != 0
	if s.until != math.MaxInt64 {
		s.until -= by
	}
	if s.closed > now {
		s.closed -= by
	}
}

// restore resets the server to its earlier state.
func (s *lockServer) restore(then *lockServer) {
	if s.forgetful {
		s.owner, s.token, s.levels, s.until, s.ttl = then.owner, then.token, then.levels, then.until, then.ttl
		s.fence, s.closed = then.fence, then.closed
		s.promised, s.wronged = 0, wrong{}
	}
}

func (s *lockServer) restart() {
	if s.fault == forgets || s.forgetful {
		s.faulted = s.faulted || s.owner != 0
		s.owner, s.fence, s.closed = 0, 0, 0
		s.promised, s.wronged = 0, wrong{}
	}
}

// looksOver reports whether the lease of the owner is over by the clock of client,
// when clients go by their own.
func (s *lockServer) looksOver(client int32, now int64) bool {
	over := s.fault == trustsClocks && now+s.offsets[client] >= s.until+s.offsets[s.owner]
	s.faulted = s.faulted || over && s.until != math.MaxInt64
	return over && s.until != math.MaxInt64
}

// acquireOnce acts on an acquire that may be repeated: an earlier grant to it stays
// granted.
func (s *lockServer) acquireOnce(before grant, again bool, client int32, asked, now, ttl int64) grant {
	s.expire(now)
	switch {
	case again && before.token != 0 && s.owner == client && s.token == before.token:
		return before
	case again && s.owner != 0 && s.owner != client && s.applies(retryTakes, 1):
		return s.take(client, now, s.leaseEnd(client, asked, now, ttl))
	case s.flushed && s.owner == 0 && s.applies(refusesFlushed, 2):
		return grant{}
	}
	return s.acquire(client, asked, now, ttl)
}

// releaseOnce acts on a release that may be repeated: it may report that there is
// nothing to release, or a success.
func (s *lockServer) releaseOnce(before history.Outcome, again bool, token, now, delay int64) history.Outcome {
	s.expire(now)
	switch {
	case again && before == history.OK && s.owner != 0 && s.token != token && s.applies(retryFrees, 1):
		s.robbed()
		return history.OK
	case again && before == history.OK && s.IntN(2) == 0:
		return history.OK
	case again && before == history.OK && s.kind == "nested":
		return history.OK
	}
	return s.release(token, now, delay)
}

// wedge makes the hold of client never end.
func (s *lockServer) wedge(client int32, fault mutation, now int64) {
	s.expire(now)
	if s.owner == client && s.applies(fault, 1) {
		s.wedged = true
	}
}

// send transmits a request of op, which a fault may affect; act is told whether it
// acts for the second time. Nothing acts for the dead.
func (c *simClient) send(op *history.Op, act func(again bool), reply func(answer)) {
	w, p := c.w, c.w.plan.faults
	alive := func(again bool) func() {
		return func() {
			if !c.dead || !p.any() && op.Return != history.Never {
				act(again)
			}
		}
	}
	if w.server.flushed && w.server.applies(failsFlushed, 3) {
		op.Note = "noscript"
		w.later(w.latency(), func() { reply(silent) })
		return
	}
	if len(p.onCalls) == 0 || w.IntN(100) >= p.percent {
		w.transmit(alive(false), reply, c.actsInTime(op))
		return
	}
	switch note := p.onCalls[w.IntN(len(p.onCalls))]; note {
	case cancelled:
		if op.Kind == history.Renew {
			w.transmit(alive(false), reply, true)
			return
		}
		c.cancelled(op, alive, reply)
	default:
		c.replyLost(op, note == lostReply, alive, reply)
	}
}

// actsInTime reports whether op must not act after its return: a release that names
// only its owner would free a later grant to the owner.
func (c *simClient) actsInTime(op *history.Op) bool {
	return c.w.server.identity && op.Kind == history.Release
}

// replyLost loses the reply to op, or the request, too; op may be tried again.
func (c *simClient) replyLost(op *history.Op, acts bool, act func(bool) func(), reply func(answer)) {
	w, affected := c.w, c.id
	if op.Kind == history.Renew { // in the background
		affected = -1
	}
	w.later(w.latency(), func() {
		if c.dead {
			return
		}
		if acts {
			act(false)()
			w.fault(affected, lostReply, 0).Process = w.process(c.id)
			if op.Kind == history.Acquire {
				w.server.wedge(c.id, wedgesLost, w.now)
			}
		} else {
			w.fault(affected, cutOff, 0).Process = w.process(c.id)
		}
		if w.plan.faults.retries && w.IntN(3) > 0 {
			w.later(w.Int64N(15), func() { w.transmit(act(true), reply, true) })
			return
		}
		op.Note = "connection"
		w.later(w.Int64N(3), func() { reply(silent) })
	})
}

// cancelled cancels op: its request acts in time, late or never, and its client may or
// may not learn the result.
func (c *simClient) cancelled(op *history.Op, act func(bool) func(), reply func(answer)) {
	w := c.w
	heard, known := w.IntN(3) == 0, false
	tell := func() {
		op.Note = "canceled"
		switch {
		case op.Kind == history.Acquire && w.server.owner != c.id && w.server.owner != 0 && w.server.applies(grantsCancelled, 1):
			op.Note = ""
			reply(falsely)
		case heard:
			op.Note = ""
			reply(arrived)
		default:
			reply(silent)
		}
	}
	w.later(w.Int64N(2), func() {
		if !c.dead {
			w.fault(c.id, cancelled, 0)
			known = true
		}
	})
	in := 2 + w.Int64N(4)
	if heard || w.IntN(3) == 0 {
		w.later(w.Int64N(in), func() {
			act(false)()
			if op.Kind == history.Acquire && !c.dead && known {
				w.server.wedge(c.id, wedgesCancelled, w.now)
			}
		})
	} else if w.IntN(2) == 0 && !c.actsInTime(op) {
		w.later(in+1+w.Int64N(40), func() {
			if !c.dead {
				act(false)()
				w.fault(c.id, runLate, 0)
				if op.Kind == history.Acquire {
					w.server.wedge(c.id, wedgesCancelled, w.now)
				}
			}
		})
	}
	w.later(in, func() {
		if !c.dead {
			tell()
		}
	})
}

// pause pauses the client for a while.
func (c *simClient) pause() {
	c.event(history.Pause)
	c.w.later(c.w.Int64N(40), func() {
		if !c.dead {
			c.event(history.Resume)
			c.think()
		}
	})
}

func (c *simClient) event(kind history.Kind) {
	at := c.w.stamp()
	c.w.ops = append(c.w.ops, &history.Op{Kind: kind, Client: c.id, Process: c.w.process(c.id), Stream: c.id, Call: at.T, CallSeq: at.Seq, Return: at.T})
}

// probe has a fresh client try the key when every lease is long over.
func (w *world) probe() {
	if !w.plan.faults.any() {
		return
	}
	w.plan.faults = faultPlan{}
	p := &simClient{w: w, id: int32(len(w.clients) + 1)}
	for i := range int64(3) {
		w.later(400+20*i, func() {
			p.holds++
			op := p.begin(history.Acquire, int64(p.id)<<32|p.holds)
			op.Asked = 5 * tick
			p.tryOnce(op)
		})
	}
	w.run()
}

// tryOnce tries op once, and releases its grant.
func (c *simClient) tryOnce(op *history.Op) {
	op.Attempt = op.Call
	g := c.w.server.acquireOnce(grant{}, false, c.id, c.w.now, c.w.now, op.Asked/tick)
	if g.token == 0 {
		c.end(op, history.Refused)
		op.Hold = 0
		return
	}
	c.end(op, history.OK)
	op.Granted = op.Asked
	if c.w.plan.fences {
		op.Fence = g.fence
	}
	free := c.begin(history.Release, op.Hold)
	c.end(free, c.w.server.release(g.token, c.w.now, 0))
}
