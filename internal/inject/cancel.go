package inject

import (
	"context"
	"sync/atomic"
)

// An ending is the end of a call's context, to come.
type ending struct {
	plan     *plan
	commands atomic.Int32 // that still go on before it, this one too
	phase    phase
	cancel   context.CancelFunc
}

// A phase is when, about a command, something happens.
type phase int

const (
	before   phase = iota // it is not sent
	underWay              // it runs, but its reply is not waited for
	afterIt               // it was answered
	phases
)

// farthest is how many commands of a call go at most before its context ends.
const farthest = 3

// toCancel returns the context for one call, the end of which may be planned, and the
// function that lets go of it. A lock may go on using the context of its acquire while
// it is held.
func (c *Client) toCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	plan := c.p.in.chosen(c.actor, c.held.Load() > 0, atCall)
	if plan == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &ending{plan: plan, phase: phase(c.actor.below(int(phases))), cancel: cancel}
	first, later := c.actor.below(2) == 0, c.actor.below(farthest)
	e.commands.Store(1)
	if !first {
		e.commands.Add(int32(later))
	}
	return context.WithValue(ctx, callKey{}, &call{client: c, ending: e}), cancel
}

// due reports whether the context is to end about the command that is next.
func (e *ending) due() bool { return e != nil && e.commands.Add(-1) == 0 }
