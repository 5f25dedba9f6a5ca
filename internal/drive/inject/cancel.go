package inject

import (
	"context"
	"sync/atomic"
)

// An ending is the planned end of the context of a call.
type ending struct {
	plan     *plan
	commands atomic.Int32 // number of commands until the context ends, at the last of them
	phase    phase
	cancel   context.CancelFunc
}

// A phase is the point of a command at which a fault occurs.
type phase int

const (
	unsent   phase = iota // the command is not sent
	underWay              // it runs, but its reply is not awaited
	answered              // its reply has arrived
	phases
)

// maxCommands is the largest number of commands that a call sends before its context ends.
const maxCommands = 3

// toCancel returns a context for one call, perhaps with a planned end, and the function that
// releases it. A lock may go on to use the context of its acquire while it is held.
func (c *Client) toCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	plan := c.p.in.chosen(c.actor, c.held.Load() > 0, atCall)
	if plan == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &ending{plan: plan, phase: phase(c.actor.below(int(phases))), cancel: cancel}
	first, later := c.actor.below(2) == 0, c.actor.below(maxCommands)
	e.commands.Store(1)
	if !first {
		e.commands.Add(int32(later))
	}
	return context.WithValue(ctx, callKey{}, &call{client: c, ending: e}), cancel
}

// due reports whether the context ends at the next command.
func (e *ending) due() bool { return e != nil && e.commands.Add(-1) == 0 }
