package checker

import (
	"cmp"
	"maps"

	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/relay"
)

// Parallel judges a history with this header in up to the given number of goroutines, at least
// one, and comes to the same Result as a [Checker]. It judges keys side by side until an event
// concerns more than one key, such as the death of a client; one goroutine judges the rest.
// docs/design/live.md argues that the Result is the same.
//
// Parallel returns two functions, which one goroutine must call: add queues an event, in the
// order of [Checker.Add]; finish judges all that was queued, ends the goroutines and returns
// the Result, as [Checker.Finish] does. finish must be called.
func Parallel(h history.Header, goroutines int) (add func(history.Event), finish func(history.End) Result) {
	p := newParallel(h, goroutines)
	return func(ev history.Event) { p.add(ev) }, p.finish
}

// A parallel is the state of [Parallel].
type parallel struct {
	// shards judge the keys of every len(shards)-th partition each. Meanwhile all follows the
	// operations under way of each client, over all keys. Without shards, all judges.
	shards     []*shard
	whole      *Checker
	sequential *relay.Relay[history.Event] // to all, once there are no shards
	dispatched int64                       // handed out so far
}

// A shard judges the keys of some partitions.
type shard struct {
	*Checker
	to *relay.Relay[numbered]
}

// A numbered event has its place in the whole history, from 1. Number 0 stands for a standstill
// from the call of its operation to the return.
type numbered struct {
	history.Event
	number int64
}

func (s *shard) add(ev numbered) {
	if ev.number == 0 {
		s.faults.standstills.Add(ev.Op.Call, ev.Op.Return)
		return
	}
	s.number = ev.number
	s.Add(ev.Event)
}

func newParallel(h history.Header, goroutines int) *parallel {
	p := &parallel{whole: New(h)}
	if goroutines < 2 || p.whole.faulty() || p.whole.rules.Joins() { // a client's keys may matter to each other
		p.startSequential()
		return p
	}
	for range min(goroutines, count.Partitions) {
		s := &shard{Checker: New(h)}
		s.shard = true
		s.to = relay.New(func(events []numbered) {
			for _, ev := range events {
				s.add(ev)
			}
		})
		p.shards = append(p.shards, s)
	}
	return p
}

// startSequential makes one checker judge all later events.
func (p *parallel) startSequential() {
	p.sequential = relay.New(func(events []history.Event) {
		for _, ev := range events {
			p.whole.Add(ev)
		}
	})
}

// add queues the next event.
func (p *parallel) add(ev history.Event) {
	switch {
	case len(p.shards) == 0:
	case p.passStandstill(ev):
		return
	case ofOneKey(ev):
		p.whole.follow(ev)
		p.dispatched++
		p.shards[count.PartitionOf(ev.Op.Key)%len(p.shards)].to.Add(numbered{Event: ev, number: p.dispatched})
		return
	default:
		p.join()
		p.startSequential()
	}
	p.sequential.Add(ev)
}

// passStandstill tells every shard of a standstill that ends with ev, and reports whether ev means nothing
// else. A standstill concerns all keys alike, so keys are still judged side by side.
func (p *parallel) passStandstill(ev history.Event) bool {
	alone := ev.Op.Kind == history.Fault && fault.EventOf(ev.Op.Note).Act == fault.StandsStill
	gap, found := p.whole.faults.standstills.Next(ev)
	if alone {
		p.whole.faulted(ev.Op)
		gap, found = interval.Span{From: ev.Op.Call, Until: interval.After(ev.Op.Call, ev.Op.Value)}, true
	}
	if found {
		still := numbered{Event: history.Event{Op: &history.Op{Call: gap.From, Return: gap.Until}}}
		for _, s := range p.shards {
			s.to.Add(still)
		}
	}
	return alone
}

// finish ends the judgement and returns the verdicts.
func (p *parallel) finish(end history.End) Result {
	p.join()
	if p.sequential != nil {
		p.sequential.Wait()
	}
	return p.whole.Finish(end)
}

// ofOneKey reports whether an event concerns one key only.
func ofOneKey(ev history.Event) bool {
	op := ev.Op
	return op.Key != "" && ev.Phase != history.Cut && (op.Kind <= history.Lost)
}

// follow keeps the operations under way of each client.
func (c *Checker) follow(ev history.Event) {
	switch {
	case ev.Phase == history.Return:
		c.faults.clients.Returned(ev.Op)
	case ev.Op.Kind < history.Lost:
		c.clientCalled(ev.Op)
	}
}

// join waits for the shards and merges their findings into all.
func (p *parallel) join() {
	for _, s := range p.shards {
		s.to.Wait()
		p.whole.absorb(s.Checker)
	}
	if len(p.shards) > 0 {
		p.whole.trimCandidates()
	}
	p.shards = nil
}

// absorb merges the findings of o, for other keys, into c.
func (c *Checker) absorb(o *Checker) {
	maps.Copy(c.keys, o.keys)
	for i, r := range o.parts {
		if r != nil {
			c.parts[i] = r
		}
	}
	for p := range o.tallies {
		c.tallies[p].Absorb(&o.tallies[p])
	}
	c.fair.Absorb(&o.fair)
	c.result.absorb(&o.result)
	c.ability |= o.ability
	c.last = interval.Later(c.last, o.last)
	c.faults.Errors = c.faults.Errors || o.faults.Errors
}

// trimCandidates keeps the first candidates of each cell, as one checker would have.
func (c *Checker) trimCandidates() {
	for p := range c.tallies {
		c.tallies[p].Keep(candidates, func(a, b candidate) int { return cmp.Compare(a.number, b.number) })
	}
}

func (r *Result) absorb(o *Result) {
	r.Ops += o.Ops
	r.Grants += o.Grants
	r.Refused += o.Refused
	r.Unknown += o.Unknown
	r.Failed += o.Failed
	r.Lost += o.Lost
	r.Unjudged += o.Unjudged
	r.LeasesNotTold += o.LeasesNotTold
	r.Breaches += o.Breaches
	r.WorstOverlap = max(r.WorstOverlap, o.WorstOverlap)
}
