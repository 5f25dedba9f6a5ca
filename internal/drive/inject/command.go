package inject

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/fault"
)

// hook handles every command of a process's clients.
type hook struct{ p *Process }

// DialHook implements [redis.Hook].
func (h hook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements [redis.Hook].
func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if isLibraryCommand(ctx, cmd) {
			return next(ctx, cmd)
		}
		return h.p.command(&request{ctx, []redis.Cmder{cmd}, func(ctx context.Context, cmds []redis.Cmder) error {
			return next(ctx, cmds[0])
		}})
	}
}

// ProcessPipelineHook implements [redis.Hook]: a pipeline or transaction is one
// request.
func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if isLibraryCommand(ctx, cmds[0]) {
			return next(ctx, cmds)
		}
		return h.p.command(&request{ctx, cmds, next})
	}
}

// insideKey marks the context of a request that is being sent: commands that the client library
// sends meanwhile are part of it.
type insideKey struct{}

// isLibraryCommand reports whether the client library itself sends the command: to open or check a
// connection, or as a part of another command.
func isLibraryCommand(ctx context.Context, cmd redis.Cmder) bool {
	return onredis.OfConnection(cmd.Name()) || ctx.Value(insideKey{}) != nil
}

// A request is one command, pipeline or transaction.
type request struct {
	ctx  context.Context
	cmds []redis.Cmder
	next func(context.Context, []redis.Cmder) error
}

// fail sets err as the result of the request, which was not sent or lost its reply.
func (r *request) fail(err error) error {
	for _, cmd := range r.cmds {
		cmd.SetErr(err)
	}
	return err
}

// send sends the request of process p. It returns the answer once p is not paused.
func (p *Process) send(r *request) error {
	err := p.whileRunning(func() error { return r.next(context.WithValue(r.ctx, insideKey{}, true), r.cmds) })
	if p.crashed.Load() {
		return r.fail(p.died())
	}
	return err
}

// withoutReply sends the request and withholds the reply. It reports whether there was a reply, and
// returns the error of sending.
func (p *Process) withoutReply(r *request) (answered bool, err error) {
	copies := make([]redis.Cmder, len(r.cmds))
	for i, cmd := range r.cmds {
		copies[i] = cmd.Clone()
	}
	err = p.whileRunning(func() error { return r.next(context.WithValue(r.ctx, insideKey{}, true), copies) })
	var refused redis.Error
	return err == nil || errors.As(err, &refused), err
}

// whileRunning waits while the process is paused and then runs f, unless the process has died. The
// process dies only while no such f runs.
func (p *Process) whileRunning(f func() error) error {
	if !p.await() || !p.begin() {
		return p.died()
	}
	err := f()
	p.underWay.Done()
	if !p.await() {
		return p.died()
	}
	return err
}

// begin counts a command under way, and reports whether the process lives.
func (p *Process) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crashed.Load() {
		return false
	}
	p.underWay.Add(1)
	return true
}

// command makes a request of the process, unless a fault prevents it.
func (p *Process) command(r *request) error {
	if !p.watched.Load() {
		p.watched.Store(true)
	}
	var c *Client
	asked := callOf(r.ctx)
	if asked != nil {
		c = asked.client
		if p.in.active.Load() && asked.ending.due() {
			return p.cancelled(r, asked)
		}
	}
	if plan := p.chosen(c); plan != nil {
		return plan.how.command(p, r, c, plan)
	}
	return p.answered(r, c, p.send(r))
}

// foreign sends a request of a client library other than go-redis. Faults do not affect a request
// that belongs to no client, because nothing tells which client released a key by it. Pauses and
// deaths do not occur at these requests, since such libraries report broken connections in their
// own ways: they occur after a grant, and deaths also before a release.
func (p *Process) foreign(r *request) error {
	asked := callOf(r.ctx)
	if asked == nil || !p.in.active.Load() {
		return p.send(r)
	}
	if asked.ending.due() {
		return p.cancelled(r, asked)
	}
	if plan := p.in.chosen(asked.client.actor, p.met(asked.client), atForeign); plan != nil {
		return plan.how.command(p, r, asked.client, plan)
	}
	return p.send(r)
}

// chosen returns the fault that occurs at a command of c, or of the background if c is nil; nil for
// none.
func (p *Process) chosen(c *Client) *plan {
	by := p.background
	if c != nil {
		by = c.actor
	}
	return p.in.chosen(by, p.met(c), atCommand)
}

// met reports whether c, or any client of the process if c is nil, holds a lock.
func (p *Process) met(c *Client) bool {
	if c != nil {
		return c.held.Load() > 0
	}
	return p.holds()
}

// chosen returns the first fault that occurs on this occasion of by, nil for none. Every fault
// draws a random number, so that later draws stay the same.
func (in *Injector) chosen(by *actor, held bool, on occasion) (first *plan) {
	if !in.active.Load() {
		return nil
	}
	for _, p := range in.plans {
		if p.how.at&on != 0 && p.occurs(in, by, held) && first == nil {
			first = p
		}
	}
	return first
}

// Request implements [design.Gate]: faults of commands occur at a request of which only the process is
// known. They are on the record of each client with a call under way, or of all if a goroutine of the
// lock sent the request.
func (p *Process) Request(string) (send bool, lost func()) {
	plan := p.chosen(nil)
	if plan == nil {
		return true, nil
	}
	held, acquiring := p.holds(), p.acquires()
	occurred := func(k fault.Kind) {
		p.note(string(k), 0) // a renewal of any client may have been on that connection
		plan.count(held, acquiring)
	}
	switch plan.Kind {
	case fault.Pause:
		p.pause(plan, held)
		return true, nil
	case fault.Cut:
		occurred(fault.Cut)
		return false, nil
	case fault.LostReply:
		return true, func() { occurred(fault.LostReply) }
	}
	die := func() {
		if p.crash() {
			plan.count(held, acquiring)
		}
	}
	if p.background.below(2) == 0 {
		return true, die
	}
	die()
	return false, nil
}

// pause pauses the process, unless it is paused.
func (p *Process) pause(plan *plan, held bool) {
	plan.count(held, !held)
	p.suspend(plan.For)
}

// pauseAt pauses the process before a request.
func (p *Process) pauseAt(r *request, c *Client, plan *plan) error {
	p.pause(plan, p.met(c))
	return p.answered(r, c, p.send(r))
}

// cutAt breaks the connection before a request is sent.
func (p *Process) cutAt(r *request, c *Client, plan *plan) error {
	p.recordOf(c).Fault(string(fault.Cut), 0)
	plan.count(p.met(c), c != nil && c.acquiring.Load())
	return r.fail(errCut)
}

// loseReplyTo sends a request and loses the reply.
func (p *Process) loseReplyTo(r *request, c *Client, plan *plan) error {
	held, acquiring := p.met(c), c != nil && c.acquiring.Load()
	answered, err := p.withoutReply(r)
	if !answered {
		return r.fail(p.answered(r, c, err))
	}
	p.recordOf(c).Fault(string(fault.LostReply), 0)
	plan.count(held, acquiring)
	return r.fail(errReplyLost)
}

// crashAt crashes the process before a request or after it.
func (p *Process) crashAt(r *request, c *Client, plan *plan) error {
	held, acquiring := p.met(c), c != nil && c.acquiring.Load()
	if p.background.below(2) == 0 {
		_, _ = p.withoutReply(r) // it dies after this one
	}
	if p.crash() {
		plan.count(held, acquiring)
	}
	return r.fail(p.died())
}

// cancelled ends the context of a call before, during or after a request.
func (p *Process) cancelled(r *request, asked *call) error {
	e, c := asked.ending, asked.client
	held, acquiring := c.held.Load() > 0, c.acquiring.Load()
	end := func() {
		c.record.Fault(string(fault.Cancel), 0)
		e.cancel()
		e.plan.count(held, acquiring)
	}
	switch e.phase {
	case unsent:
		end()
		return r.fail(context.Canceled)
	case underWay:
		answered, err := p.withoutReply(r)
		if !answered {
			return r.fail(p.answered(r, c, err))
		}
		end()
		return r.fail(context.Canceled)
	}
	err := p.answered(r, c, p.send(r))
	end()
	return err
}

// answered returns err, the answer to a request of c. It records a cut if the other side broke
// the connection; the request may have had an effect. Before clients begin there is nothing to record.
func (p *Process) answered(r *request, c *Client, err error) error {
	if err != nil && hungUp(err) && p.in.recording.Load() {
		p.recordOf(c).Fault(string(fault.Cut), 0)
	}
	return err
}
