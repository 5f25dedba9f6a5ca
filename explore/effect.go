package explore

import (
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/stepserver"
)

// An effect is what one step did, as far as it matters for whether another step
// could as well have come before it. SOUNDNESS.md says why what is compared here is
// enough.
type effect struct {
	// global: the order of this step and any other matters, or may.
	global bool
	// actor took the step, process is where it lives.
	actor, process int
	// server is what the commands did that ran.
	server []stepserver.Effect
	// marks are what the step left in the history, one per key.
	marks []mark
}

// A mark is how a step shows in the history of one key.
type mark struct {
	key  string
	kind markKind
}

type markKind uint8

const (
	// refusals: nothing but calls and returns of acquires that were refused by the
	// end of the step.
	refusals markKind = iota
	// begun: nothing but calls of acquires that are still under way.
	begun
	// orders: anything else, whose place among the operations of others counts.
	orders
)

// reset empties e for a step of actor in process, keeping its memory.
func (e *effect) reset(actor, process int) {
	*e = effect{actor: actor, process: process, server: e.server[:0], marks: e.marks[:0]}
}

// copy returns e in memory of its own, or in that of into.
func (e *effect) copy(into effect) effect {
	c := *e
	c.server = append(into.server[:0], e.server...)
	c.marks = append(into.marks[:0], e.marks...)
	return c
}

// observe takes in what a step recorded.
func (e *effect) observe(events []history.Event) {
	for _, ev := range events {
		if ev.Op.Key == "" {
			e.global = true
			return
		}
	}
	for i, ev := range events {
		e.mark(ev.Op.Key, markOf(ev, events[i+1:]))
	}
}

// markOf is how one event shows, given those of the same step after it.
func markOf(ev history.Event, later []history.Event) markKind {
	switch {
	case ev.Op.Kind != history.Acquire:
		return orders
	case ev.Phase == history.Return && ev.Op.Outcome == history.Refused:
		return refusals
	case ev.Phase == history.Return:
		return orders
	}
	for _, l := range later {
		if l.Op == ev.Op && l.Op.Outcome == history.Refused {
			return refusals
		}
		if l.Op == ev.Op {
			return orders
		}
	}
	return begun
}

func (e *effect) mark(key string, kind markKind) {
	for i := range e.marks {
		if m := &e.marks[i]; m.key == key {
			if m.kind != kind {
				m.kind = orders
			}
			return
		}
	}
	e.marks = append(e.marks, mark{key, kind})
}

// commutes reports whether the steps that had the effects e and o lead, taken one
// after the other at one instant, to the same state and to verdicts that are the
// same in both orders.
func (e *effect) commutes(o *effect) bool {
	if e.global || o.global || e.process == o.process {
		return false
	}
	for i := range e.server {
		for j := range o.server {
			if !e.server[i].Independent(o.server[j]) {
				return false
			}
		}
	}
	for _, a := range e.marks {
		for _, b := range o.marks {
			if a.key == b.key && (a.kind == orders || a.kind != b.kind) {
				return false
			}
		}
	}
	return true
}
