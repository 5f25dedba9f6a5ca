package checker

import (
	"math/rand/v2"

	"github.com/lockbench/lockbench/history"
)

// A generator makes small histories of one key that no server had a part in:
// every outcome is drawn, so that sound and broken ones are both common. Stamps
// are few, so that ties are common too.
type generator struct {
	*rand.Rand
	kind     string // meaning of a second acquire
	withheld bool   // the record tells few leases
	ops      []*history.Op
	gone     []*history.Op
	seq      bool
}

// generate draws one history.
func generate(r *rand.Rand) (memory, []*history.Op) {
	g := &generator{Rand: r, seq: r.IntN(4) == 0}
	g.kind = []string{"refused", "nested", "refreshed"}[r.IntN(3)]
	g.withheld = r.IntN(4) == 0
	for client := int32(1); client <= int32(2+r.IntN(3)); client++ {
		g.client(client)
	}
	if g.seq {
		g.number()
	}
	m := memory{header: history.Header{Reacquire: g.kind, RenewsUnseen: r.IntN(6) == 0}, ops: g.ops}
	return m, g.ops
}

// A player is one client as it goes.
type player struct {
	g      *generator
	id     int32
	now    int64
	hold   int64
	levels int
	holds  int64
	dead   bool
	// acquired is the call of the newest acquire.
	acquired int64
}

func (g *generator) client(id int32) {
	p := &player{g: g, id: id, now: g.Int64N(10)}
	for n := 1 + g.IntN(5); n > 0 && !p.dead; n-- {
		p.step()
	}
}

func (p *player) step() {
	p.now += p.g.Int64N(4)
	switch n := p.g.IntN(20); {
	case p.hold == 0 || n < 3:
		p.acquire()
	case n < 11:
		p.release()
	case n < 15:
		p.extend(history.Extend)
	case n < 17:
		p.extend(history.Renew)
	case n < 18:
		p.event(history.Lost)
	case n < 19:
		p.event(history.Death)
		p.dead = true
	default:
		p.now += p.g.Int64N(8)
	}
}

// op makes an operation that takes some time, or never returns when unknown.
func (p *player) op(kind history.Kind, outcome history.Outcome) *history.Op {
	op := &history.Op{
		Kind: kind, Outcome: outcome, Client: p.id, Process: p.id, Stream: p.id,
		Key: "k", Hold: p.hold, Call: p.now, Return: p.now + p.g.Int64N(4), Attempt: history.NoStamp,
	}
	p.now = op.Return
	if outcome == history.Unknown && p.g.IntN(2) == 0 {
		op.Return = history.Never
	}
	p.g.ops = append(p.g.ops, op)
	return op
}

func (p *player) lease() int64 {
	if p.g.withheld && p.g.IntN(2) == 0 {
		return history.NotTold
	}
	if p.g.IntN(8) == 0 {
		return 0
	}
	return 1 + p.g.Int64N(12)
}

// outcome draws ok half of the time, and otherwise one of others.
func (p *player) outcome(others ...history.Outcome) history.Outcome {
	if p.g.IntN(2) == 0 {
		return history.OK
	}
	return others[p.g.IntN(len(others))]
}

func (p *player) acquire() {
	op := p.op(history.Acquire, p.outcome(history.OK, history.Refused, history.Unknown, history.Failed))
	op.Granted = p.lease()
	if op.Outcome != history.OK && op.Outcome != history.Unknown {
		op.Hold = 0
		return
	}
	if p.hold == 0 || p.g.kind == "refused" {
		p.holds++
		p.hold, p.levels = int64(p.id)<<32|p.holds, 0
	}
	op.Hold, p.acquired = p.hold, op.Call
	if op.Outcome == history.OK {
		p.levels++
	}
	switch p.g.IntN(3) {
	case 0:
		op.Wait = 1
	case 1:
		if op.Return != history.Never {
			op.Attempt = op.Call + p.g.Int64N(op.Return-op.Call+1)
			op.Attempts = 1 + p.g.Int32N(2)
		}
	}
}

func (p *player) release() {
	p.op(history.Release, p.outcome(history.OK, history.Unknown, history.Failed, history.LossReported))
	if p.levels--; p.levels <= 0 || p.g.kind != "nested" {
		p.hold, p.levels = 0, 0
	}
}

// extend prolongs; a renewal runs beside its client's next operation.
func (p *player) extend(kind history.Kind) {
	if kind == history.Renew && p.now == p.acquired {
		p.now++ // a renewal is not called before the acquire that it renews
	}
	begun := p.now
	op := p.op(kind, p.outcome(history.OK, history.Unknown, history.LossReported, history.Failed))
	op.Granted = p.lease()
	if kind == history.Renew {
		op.Stream = p.id + 100*(1+int32(len(p.g.ops))) // renewals may overlap each other
		p.now = begun
	}
}

func (p *player) event(kind history.Kind) {
	op := &history.Op{Kind: kind, Client: p.id, Stream: p.id, Key: "k", Hold: p.hold, Call: p.now, Return: p.now}
	if kind == history.Death {
		op.Key, op.Hold = "", 0
		p.g.gone = append(p.g.gone, op)
	}
	p.g.ops = append(p.g.ops, op)
}

// number gives every stamp a sequence number in the order of the events.
func (g *generator) number() {
	n := uint64(0)
	var events []history.Event
	for ev := range (memory{ops: g.ops}).Events() {
		events = append(events, ev)
	}
	for _, ev := range events {
		n++
		if ev.Phase == history.Return {
			ev.Op.ReturnSeq = n
		} else {
			ev.Op.CallSeq, ev.Op.ReturnSeq = n, n
		}
	}
	for _, op := range g.ops { // as recorders do
		op.Stream = op.Client
	}
}
