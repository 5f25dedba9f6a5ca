package checker

import (
	"cmp"
	"maps"

	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/checker/internal/partition"
	"github.com/lockbench/lockbench/checker/internal/standing"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/relay"
)

// Parallel starts the judgement of a history with this header as a [Checker] judges it, and
// comes to the same Result, by up to so many goroutines of its own, of which there is one at
// least: keys are judged side by side as long as nothing happens that concerns more than one of
// them, and from then on one after the other, beside the caller. docs/design/live.md says why
// that is the same.
//
// It returns what stands in for [Checker.Add], which judges some time later, and for
// [Checker.Finish], which must be called, and ends the goroutines. One goroutine calls both.
func Parallel(h history.Header, goroutines int) (add func(history.Event), finish func(history.End) Result) {
	p := newParallel(h, goroutines)
	return func(ev history.Event) { p.add(ev) }, p.finish
}

// A parallel is what [Parallel] has of its judgement.
type parallel struct {
	all *Checker // judges alone once shards is empty
	// shards judge the keys of every len(shards)-th partition. all meanwhile follows what
	// clients have under way, over all keys.
	shards []*shard
	alone  *relay.Relay[history.Event] // to all
	events int64
}

// A shard judges some keys.
type shard struct {
	*Checker
	to *relay.Relay[numbered]
}

// A numbered event knows its place in the whole history, from 1 on. Number 0 is a standstill, from the
// call of its operation to the return.
type numbered struct {
	history.Event
	number int64
}

func (s *shard) add(ev numbered) {
	if ev.number == 0 {
		s.faults.still.Add(ev.Op.Call, ev.Op.Return)
		return
	}
	s.number = ev.number
	s.Add(ev.Event)
}

func newParallel(h history.Header, goroutines int) *parallel {
	p := &parallel{all: New(h)}
	if goroutines < 2 || p.all.faulty() || p.all.rules.Joins() { // a client's keys may matter to each other
		p.goAlone()
		return p
	}
	for range min(goroutines, partition.Count) {
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

// goAlone has one checker judge what is still to come.
func (p *parallel) goAlone() {
	p.alone = relay.New(func(events []history.Event) {
		for _, ev := range events {
			p.all.Add(ev)
		}
	})
}

// add judges the next event, some time later.
func (p *parallel) add(ev history.Event) {
	switch {
	case len(p.shards) == 0:
	case p.stands(ev):
		return
	case ofOneKey(ev):
		p.all.follow(ev)
		p.events++
		p.shards[partition.Of(ev.Op.Key)%len(p.shards)].to.Add(numbered{Event: ev, number: p.events})
		return
	default:
		p.join()
		p.goAlone()
	}
	p.alone.Add(ev)
}

// stands has every shard know of a standstill that ends with ev, and returns whether ev says nothing
// else. It concerns all keys alike, so they are judged side by side all the same.
func (p *parallel) stands(ev history.Event) bool {
	alone := ev.Op.Kind == history.Fault && fault.EventOf(ev.Op.Note).Act == fault.StandsStill
	gap, found := p.all.faults.still.Next(ev)
	if alone {
		p.all.faulted(ev.Op)
		gap, found = standing.Span{From: ev.Op.Call, Until: optime.After(ev.Op.Call, ev.Op.Value)}, true
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
	if p.alone != nil {
		p.alone.Wait()
	}
	return p.all.Finish(end)
}

// ofOneKey reports whether an event concerns one key only.
func ofOneKey(ev history.Event) bool {
	op := ev.Op
	return op.Key != "" && ev.Phase != history.Cut && (op.Kind <= history.Lost)
}

// follow notes what clients have under way.
func (c *Checker) follow(ev history.Event) {
	switch {
	case ev.Phase == history.Return:
		c.faults.clients.Arrives(ev.Op)
	case ev.Op.Kind < history.Lost:
		c.departs(ev.Op)
	}
}

// join waits for the shards and puts what they found together.
func (p *parallel) join() {
	for _, s := range p.shards {
		s.to.Wait()
		p.all.absorb(s.Checker)
	}
	if len(p.shards) > 0 {
		p.all.choose()
	}
	p.shards = nil
}

// absorb adds what o found of other keys.
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
	c.last = optime.Later(c.last, o.last)
	c.faults.Errors = c.faults.Errors || o.faults.Errors
}

// choose leaves those candidates that one checker would have kept: the first ones.
func (c *Checker) choose() {
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
