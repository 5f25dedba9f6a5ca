package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
	"github.com/lockbench/lockbench/internal/fault"
)

// A timeSkip is a period of time that a choice lets pass. Commands pending at its start run after
// it; commands that arrive during it do not wait for its end.
type timeSkip struct {
	active bool
	until  time.Time
	verb   strategy.Verb // of the choice that began it
	// paused are the processes with the skip in their records as a pause: the process that a pause
	// stops or, in a time move, the processes with renewals that it may delay.
	paused  []*process
	delayed []*stepserver.Command
	// unreadReplies are the commands that the server answered while processes stood still. The
	// replies are in the sockets of their processes, so that after the standstill no time passes
	// until they are read.
	unreadReplies []*stepserver.Command
}

// unread reports whether a reply is unread in the socket of the actor's process.
func (f *timeSkip) unread(a *actor) bool {
	return len(f.unreadReplies) > 0 && slices.ContainsFunc(a.pending, func(c *stepserver.Command) bool { return contains(f.unreadReplies, c) })
}

// stops reports whether the time skip keeps the actor from continuing with c or, if c is nil, from
// its park.
func (f *timeSkip) stops(a *actor, c *stepserver.Command) bool {
	switch {
	case !f.active:
		return false
	case f.verb == strategy.VerbServerStandstill:
		return c != nil
	case f.verb.Stands():
		return true
	case f.verb == strategy.VerbPause && slices.Contains(f.paused, a.process):
		return true
	case c == nil:
		return a.held
	}
	return contains(f.delayed, c)
}

// serverStands reports whether the server, and nothing else, stands still.
func (f *timeSkip) serverStands() bool { return f.active && f.verb == strategy.VerbServerStandstill }

// apply makes a choice, and adds its effect on the server to the effect of the step.
func (w *world) apply(c strategy.Choice) {
	faults, moves := c.Cost()
	w.left.faults -= faults
	w.left.moves -= moves
	if kind := c.Verb.Fault(); kind != "" {
		w.faults = append(w.faults, string(kind))
	}
	if c.Actor == strategy.NoActor {
		w.effect.Reset(strategy.NoActor, strategy.NoActor)
		w.effect.Global = true
		w.applyToAll(c)
		return
	}
	a := w.actors[c.Actor]
	w.effect.Reset(a.number, a.process.number)
	if c.Verb == strategy.VerbRun {
		others := w.progressOfOthers(a.process)
		if c.Nth >= strategy.LateCommand && a.client {
			a.record.Fault("late", 0)
		}
		w.resume(a, c.Nth)
		w.bubble.Wait()
		// A death by the program commutes with nothing, as a death by a fault.
		w.effect.Global = a.crashed || w.progressOfOthers(a.process) != others && !w.wokeOthers()
		return
	}
	w.effect.Global = true
	w.inject(a, c)
}

// resume lets the actor continue with an item, but only up to its next command if the server stands
// still.
func (w *world) resume(a *actor, nth int) {
	if !w.skip.serverStands() {
		w.proceed(a, nth, w.execute)
		return
	}
	if c := w.stepToCommand(a); c != nil {
		w.ran(c, stepserver.Effect{})
	}
}

// progressOfOthers returns a number that changes if an actor of another process makes progress.
func (w *world) progressOfOthers(p *process) (n int) {
	for _, a := range w.actors {
		if a.process == p {
			continue
		}
		if a.parkedAt != "" {
			n++
		}
		if a.exited {
			n += 1 << 16
		}
	}
	for _, c := range w.server.Pending() {
		if c.Process != p.number {
			n += 1 << 32
		}
	}
	return n
}

// wokeOthers reports whether the step sent data to other processes, which may then make progress.
func (w *world) wokeOthers() bool {
	for _, e := range w.effect.Server {
		if len(e.Woken) > 0 {
			return true
		}
	}
	return false
}

func (w *world) applyToAll(c strategy.Choice) {
	switch c.Verb {
	case strategy.VerbWait:
		w.passIdleTime()
	case strategy.VerbMove:
		w.startSkip(w.start.Add(c.At), w.hindered(), c.Verb)
	case strategy.VerbServerStandstill, strategy.VerbMachineStandstill:
		w.standStill(c)
	case strategy.VerbScriptFlush:
		w.flushScripts()
	case strategy.VerbRestart:
		w.serverRecord.Fault(string(fault.Restart), 0)
		w.server.Restart()
		for _, p := range w.processes {
			p.affected = true
		}
		w.prober.process.clients.CloseAll() // idle, but connected
	default:
		w.defect(fmt.Sprintf("a schedule has the step %q, for which nothing is done", c.Verb))
	}
}

// standStill stops all processes, the server, or both. Timers of the processes still fire
// meanwhile, but the commands that they send wait for the server.
func (w *world) standStill(c strategy.Choice) {
	if c.Verb != strategy.VerbServerStandstill {
		w.serverRecord.Fault(string(fault.Standstill), int64(c.At))
	}
	if c.Verb != strategy.VerbStandstill {
		w.serverRecord.Fault(string(fault.ServerStandstill), int64(c.At))
	}
	w.startSkip(time.Now().Add(c.At), nil, c.Verb)
}

// runSent makes the server run the commands that were sent, and the next one of the actor. Their
// senders get the replies after the standstill.
func (w *world) runSent(a *actor) {
	w.skip.unreadReplies = w.skip.unreadReplies[:0]
	w.proceedTo(a, 0)
	for _, c := range w.server.Pending() {
		if !c.Answered() && !c.Orphan() {
			w.runOnServer(c, w.server.RunSlow)
			w.skip.unreadReplies = append(w.skip.unreadReplies, c)
		}
	}
}

// hindered returns the processes that a time move pauses: a command waits there that no call of a
// client sent, so it may be a renewal. A move delays it until about the end of a lease.
func (w *world) hindered() (all []*process) {
	if !w.shared.Renews {
		return nil
	}
	for _, a := range w.actors {
		called := 0
		if a.call.inCall {
			called = 1
		}
		if len(a.pending) > called && !slices.Contains(all, a.process) {
			all = append(all, a.process)
		}
	}
	return all
}

// startSkip begins a time skip.
func (w *world) startSkip(until time.Time, paused []*process, by strategy.Verb) {
	w.skip.active, w.skip.until, w.skip.verb = true, until, by
	w.skip.paused = append(w.skip.paused[:0], paused...)
	w.recordPause(history.Pause)
	w.skip.delayed = w.skip.delayed[:0]
	if !by.Stands() {
		w.serverRecord.Fault(fault.TimeMove, int64(time.Until(until)))
	}
	for _, a := range w.actors {
		a.held = a.parkedAt != ""
		w.skip.delayed = append(w.skip.delayed, a.pending...)
		w.skip.delayed = append(w.skip.delayed, a.late...)
	}
	if w.sleep(until) {
		w.endSkip()
	}
}

// endSkip ends the time skip.
func (w *world) endSkip() {
	w.recordPause(history.Resume)
	w.skip.active, w.skip.paused = false, w.skip.paused[:0]
	for _, a := range w.actors {
		a.held = false
	}
}

// recordPause records the start or the end of a pause for all live clients of the paused processes.
func (w *world) recordPause(kind history.Kind) {
	for _, a := range w.clients {
		if slices.Contains(w.skip.paused, a.process) {
			a.record.Event(kind, "", "")
		}
	}
}

// inject lets a fault happen to the actor.
func (w *world) inject(a *actor, c strategy.Choice) {
	switch c.Verb {
	case strategy.VerbDieBefore:
		w.die(a, c.Verb)
	case strategy.VerbDieAfter:
		w.proceed(a, c.Nth, func(cmd *stepserver.Command) stepserver.Effect { return w.runOnServer(cmd, w.server.RunUnanswered) })
		w.die(a, c.Verb)
	case strategy.VerbStandstill:
		w.runSent(a)
		w.standStill(c)
	case strategy.VerbPause:
		w.startSkip(w.pastLease(a), []*process{a.process}, c.Verb)
	case strategy.VerbCancel:
		w.proceedTo(a, c.Nth)
		w.endContext(a)
	case strategy.VerbCancelBefore:
		a.overdue = true
		w.proceedTo(a, c.Nth)
		a.overdue = false
	case strategy.VerbLoseReply:
		w.proceed(a, c.Nth, func(cmd *stepserver.Command) stepserver.Effect {
			w.affect(a, c.Verb)
			return w.runOnServer(cmd, w.server.RunLosing)
		})
	case strategy.VerbSlowReply:
		w.proceed(a, c.Nth, func(cmd *stepserver.Command) stepserver.Effect { return w.runOnServer(cmd, w.server.RunSlow) })
	case strategy.VerbCut:
		w.proceed(a, c.Nth, func(cmd *stepserver.Command) stepserver.Effect {
			w.affect(a, c.Verb)
			w.server.Cut(cmd)
			return stepserver.Effect{}
		})
	case strategy.VerbTimeOut:
		w.proceed(a, c.Nth, func(cmd *stepserver.Command) stepserver.Effect {
			if w.endContext(a); !a.call.cancelled { // a renewal is given up
				a.record.Fault(string(fault.Cancel), 0)
			}
			a.process.affected = true
			w.server.Timeout(cmd)
			return stepserver.Effect{}
		})
	default:
		w.defect(fmt.Sprintf("a schedule has the step %q, for which nothing is done", c.Verb))
	}
}

// affect records that a connection of the actor breaks. The background of a process with several
// clients has a record of its own, under a negative client number.
func (w *world) affect(a *actor, v strategy.Verb) {
	a.process.affected = true
	if a.record == nil {
		a.record = w.tape.Client(int32(-2-a.process.number), int32(a.process.number))
	}
	a.record.Fault(string(v.Fault()), 0)
}

// die ends the actor, and its process if no other client of it lives.
func (w *world) die(a *actor, v strategy.Verb) {
	a.record.Die(string(v.Fault()))
	a.crashed = true
	a.process.affected = true
	alone := true
	for _, other := range w.clients {
		alone = alone && (other.process != a.process || other.crashed)
	}
	if alone {
		a.process.crashed = true
		w.server.Kill(a.process.number)
		return
	}
	w.server.KillClient(a.process.number, a.number)
}

// proceedTo lets a parked actor continue up to its next command.
func (w *world) proceedTo(a *actor, nth int) {
	if nth < a.items() && a.item(nth) == nil && !a.accesses {
		if c := w.stepToCommand(a); c != nil {
			w.ran(c, stepserver.Effect{})
		}
	}
}

// endContext cancels the actor's current call.
func (w *world) endContext(a *actor) {
	if !a.call.inCall || a.call.cancel == nil {
		return
	}
	a.record.Fault(string(fault.Cancel), 0)
	a.call.cancelled = true
	a.call.cancel()
}

// pastLease returns the end of a pause of the actor: just after the last lease that it believes to
// have or, if it has none, after a lease granted now.
func (w *world) pastLease(a *actor) time.Time {
	ttl := w.cfg.TTL
	if granted := w.cfg.Design.Granted; granted != nil {
		ttl = granted(ttl)
	}
	var last time.Time
	for _, b := range a.beliefs {
		if b.until.After(last) {
			last = b.until
		}
	}
	if now := time.Now(); !last.After(now) {
		last = now.Add(ttl)
	}
	return last.Add(edgeMargin)
}
