package checker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/checker/internal/partition"
	"github.com/lockbench/lockbench/checker/internal/standing"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/relay"
)

// A Parallel judges one history as a [Checker] does, and comes to the same Result, in
// goroutines of its own: keys are judged side by side as long as nothing happens that
// concerns more than one of them, and from then on one after the other, beside the
// caller. docs/design/live.md says why that is the same. Its methods are called by one
// goroutine; [Parallel.Finish] must be called, and ends the others.
type Parallel struct {
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

// A numbered event knows its place in the whole history; without an operation it is a standstill.
type numbered struct {
	history.Event
	number int64
	still  standing.Span
}

func (s *shard) add(ev numbered) {
	if ev.Op == nil {
		s.faults.still.Add(ev.still.From, ev.still.Until)
		return
	}
	s.number = ev.number
	s.Add(ev.Event)
}

// NewParallel starts the judgement of a history with this header by up to so many
// goroutines, of which there is one at least.
func NewParallel(h history.Header, goroutines int) *Parallel {
	p := &Parallel{all: New(h)}
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
func (p *Parallel) goAlone() {
	p.alone = relay.New(func(events []history.Event) {
		for _, ev := range events {
			p.all.Add(ev)
		}
	})
}

// Add judges the next event, as [Checker.Add] does, some time later.
func (p *Parallel) Add(ev history.Event) {
	if len(p.shards) > 0 && p.stands(ev) {
		return
	}
	if len(p.shards) > 0 && !ofOneKey(ev) {
		p.join()
		p.goAlone()
	}
	if len(p.shards) == 0 {
		p.alone.Add(ev)
		return
	}
	p.all.follow(ev)
	p.events++
	p.shards[partition.Of(ev.Op.Key)%len(p.shards)].to.Add(numbered{Event: ev, number: p.events})
}

// stands has every shard know of a standstill that ends with ev, and returns whether ev says nothing
// else. It concerns all keys alike, so they are judged side by side all the same.
func (p *Parallel) stands(ev history.Event) bool {
	alone := standsStill(ev)
	gap, found := p.all.faults.still.Next(ev)
	if alone {
		p.all.faulted(ev.Op)
		gap, found = standing.Span{From: ev.Op.Call, Until: optime.After(ev.Op.Call, ev.Op.Value)}, true
	}
	if found {
		for _, s := range p.shards {
			s.to.Add(numbered{still: gap})
		}
	}
	return alone
}

// Finish ends the judgement and returns the verdicts.
func (p *Parallel) Finish(end history.End) Result {
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
func (p *Parallel) join() {
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
		c.tallies[p].absorb(&o.tallies[p])
	}
	c.fair.Absorb(&o.fair)
	c.result.absorb(&o.result)
	c.ability |= o.ability
	c.last = optime.Later(c.last, o.last)
	c.faults.errors = c.faults.errors || o.faults.errors
}

func (t *tally) absorb(o *tally) {
	for i := range o.rows {
		t.at(o.rows[i].under).absorb(&o.rows[i])
	}
}

func (r *row) absorb(o *row) {
	r.exposure += o.exposure
	r.violations += o.violations
	r.against += o.against
	for q := range r.asked {
		r.asked[q] += o.asked[q]
	}
	r.when.Merge(o.when)
	r.measured.Absorb(o.measured)
	r.broken = append(r.broken, o.broken...)
}

// choose leaves those candidates that one checker would have kept: the first ones.
func (c *Checker) choose() {
	for p := range c.tallies {
		for i := range c.tallies[p].rows {
			r := &c.tallies[p].rows[i]
			slices.SortStableFunc(r.broken, func(a, b candidate) int { return cmp.Compare(a.number, b.number) })
			r.broken = r.broken[:min(len(r.broken), c.candidates())]
		}
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
	r.Breaches += o.Breaches
	r.WorstOverlap = max(r.WorstOverlap, o.WorstOverlap)
}
