package checker

import (
	"cmp"
	"maps"

	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/batch"
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

// A parallel judges one history in two phases. In the first, every shard judges the keys of its
// partitions in a goroutine of its own, and checker only follows the operations under way of each
// client. The first event that concerns more than one key ends this phase: the findings of the
// shards are merged into checker, which judges all later events in one goroutine.
type parallel struct {
	checker    *Checker
	shards     []*shard                    // none in the second phase
	dispatched int64                       // number of events passed to shards so far
	sequential *batch.Queue[history.Event] // to checker in the second phase, nil in the first
}

func newParallel(h history.Header, goroutines int) *parallel {
	p := &parallel{checker: New(h)}
	// Faults, and acquires that join levels left on the server, relate a client's keys to each other.
	if goroutines < 2 || p.checker.faulty() || p.checker.rules.Joins() {
		p.startSequential()
		return p
	}
	for range min(goroutines, count.Partitions) {
		p.shards = append(p.shards, newShard(h))
	}
	return p
}

// startSequential begins the second phase.
func (p *parallel) startSequential() {
	p.sequential = batch.New(func(events []history.Event) {
		for _, ev := range events {
			p.checker.Add(ev)
		}
	})
}

// add queues the next event.
func (p *parallel) add(ev history.Event) {
	switch {
	case ev.Op.Kind >= history.Probe: // see Checker.Add
	case len(p.shards) == 0:
		p.sequential.Add(ev)
	case p.passStandstill(ev):
	case concernsOneKey(ev):
		p.dispatch(ev)
	default:
		p.join()
		p.startSequential()
		p.sequential.Add(ev)
	}
}

// dispatch queues an event of one key for the shard that judges the key.
func (p *parallel) dispatch(ev history.Event) {
	p.checker.follow(ev)
	p.dispatched++
	s := p.shards[count.PartitionOf(ev.Op.Key)%len(p.shards)]
	s.queue.Add(numberedEvent{Event: ev, number: p.dispatched})
}

// passStandstill passes the standstill that ends with ev, if any, to every shard, and reports
// whether that is all ev says. A standstill concerns all keys alike, so it does not end the first
// phase.
func (p *parallel) passStandstill(ev history.Event) (handled bool) {
	span, found := p.checker.faults.standstills.Next(ev)
	if ev.Op.Kind == history.Fault && fault.EventOf(ev.Op.Note).Act == fault.StandsStill {
		p.checker.faulted(ev.Op)
		span, found = interval.Span{From: ev.Op.Call, Until: interval.After(ev.Op.Call, ev.Op.Value)}, true
		handled = true
	}
	if found {
		standstill := numberedEvent{Event: history.Event{Op: &history.Op{Call: span.From, Return: span.Until}}}
		for _, s := range p.shards {
			s.queue.Add(standstill)
		}
	}
	return handled
}

// concernsOneKey reports whether an event concerns the state of one key only.
func concernsOneKey(ev history.Event) bool {
	return ev.Op.Key != "" && ev.Phase != history.Cut && ev.Op.Kind <= history.Lost
}

// follow keeps the operations under way of the client of ev.
func (c *Checker) follow(ev history.Event) {
	switch {
	case ev.Phase == history.Return:
		c.faults.clients.Returned(ev.Op)
	case ev.Op.Kind < history.Lost:
		c.clientCalled(ev.Op)
	}
}

// finish ends the judgement and returns the verdicts.
func (p *parallel) finish(end history.End) Result {
	p.join()
	if p.sequential != nil {
		p.sequential.Wait()
	}
	return p.checker.Finish(end)
}

// A shard judges the keys of some partitions in a goroutine of its own.
type shard struct {
	*Checker
	queue *batch.Queue[numberedEvent]
}

// A numberedEvent is an event with its place in the whole history, from 1. The number 0 marks a
// standstill, which lasts from the call of the operation to its return.
type numberedEvent struct {
	history.Event
	number int64
}

func newShard(h history.Header) *shard {
	s := &shard{Checker: New(h)}
	s.shard = true
	s.queue = batch.New(func(events []numberedEvent) {
		for _, ev := range events {
			s.judge(ev)
		}
	})
	return s
}

func (s *shard) judge(ev numberedEvent) {
	if ev.number == 0 {
		s.faults.standstills.Add(ev.Op.Call, ev.Op.Return)
		return
	}
	s.number = ev.number
	s.Add(ev.Event)
}

// join ends the first phase: it waits for the shards and merges their findings into checker.
func (p *parallel) join() {
	for _, s := range p.shards {
		s.queue.Wait()
		p.checker.absorb(s.Checker)
	}
	if len(p.shards) > 0 {
		p.checker.trimCandidates()
	}
	p.shards = nil
}

// absorb moves the state and the findings of o into c. The two judged different keys.
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
}

// trimCandidates keeps the candidates of each cell that are first in the history: one checker over
// all keys would have kept the same.
func (c *Checker) trimCandidates() {
	for p := range c.tallies {
		c.tallies[p].Keep(candidates, func(a, b candidate) int { return cmp.Compare(a.number, b.number) })
	}
}

// absorb adds the counts of o to r.
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
