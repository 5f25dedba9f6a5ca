package strategy

import (
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// An Effect is the effect of one step, as far as it matters for the question whether the step
// commutes with another. SOUNDNESS.md proves that these facts are enough.
type Effect struct {
	// Global is set if the step may not commute with any other.
	Global bool
	// actor took the step; it lives in process.
	actor, process int
	// Server has the effects of the commands that ran.
	Server []stepserver.Effect
	// marks are the events of the step in the history, one mark per key.
	marks []mark
}

// A mark summarizes the events of a step in the history of one key.
type mark struct {
	key  string
	kind markKind
}

type markKind uint8

const (
	// refusals: only calls and returns of acquires that were refused by the end of
	// the step.
	refusals markKind = iota
	// begun: only calls of acquires that are still under way.
	begun
	// Orders: any other event; its order among the operations of other clients matters.
	Orders
)

// Reset empties e for a step of actor in process. It keeps the memory.
func (e *Effect) Reset(actor, process int) {
	*e = Effect{actor: actor, process: process, Server: e.Server[:0], marks: e.marks[:0]}
}

// copy returns e in memory of its own, or in into's.
func (e *Effect) copy(into Effect) Effect {
	c := *e
	c.Server = append(into.Server[:0], e.Server...)
	c.marks = append(into.marks[:0], e.marks...)
	return c
}

// Observe adds the recorded events of a step.
func (e *Effect) Observe(events []history.Event) {
	for _, ev := range events {
		if ev.Op.Key == "" {
			e.Global = true
			return
		}
	}
	for i, ev := range events {
		e.Mark(ev.Op.Key, markOf(ev, events[i+1:]))
	}
}

// markOf returns the kind of mark for an event, given the later events of the same step.
func markOf(ev history.Event, later []history.Event) markKind {
	switch {
	case ev.Op.Kind != history.Acquire:
		return Orders
	case ev.Phase == history.Return && ev.Op.Outcome == history.Refused:
		return refusals
	case ev.Phase == history.Return:
		return Orders
	}
	for _, l := range later {
		if l.Op == ev.Op && l.Op.Outcome == history.Refused {
			return refusals
		}
		if l.Op == ev.Op {
			return Orders
		}
	}
	return begun
}

func (e *Effect) Mark(key string, kind markKind) {
	for i := range e.marks {
		if m := &e.marks[i]; m.key == key {
			if m.kind != kind {
				m.kind = Orders
			}
			return
		}
	}
	e.marks = append(e.marks, mark{key, kind})
}

// commutes reports whether two steps with the effects e and o, taken in either
// order at one instant, lead to the same state and to the same verdicts.
func (e *Effect) commutes(o *Effect) bool {
	if e.Global || o.Global || e.process == o.process {
		return false
	}
	for i := range e.Server {
		for j := range o.Server {
			if !e.Server[i].Independent(o.Server[j]) {
				return false
			}
		}
	}
	for _, a := range e.marks {
		for _, b := range o.marks {
			if a.key == b.key && (a.kind == Orders || a.kind != b.kind) {
				return false
			}
		}
	}
	return true
}
