package explore

import (
	"time"

	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// maxSteps bounds the steps of one schedule, for locks that retry for ever.
const maxSteps = 5000

// run runs one schedule, chosen by s, until every client has returned, died or been abandoned. It
// returns false if s ends the schedule before.
func (w *world) run(s strategy.Chooser) (ended bool, err error) {
	if err := w.open(); err != nil {
		return false, err
	}
	w.left = budget{faults: max(0, w.cfg.Faults), moves: max(0, w.cfg.Moves)}
	if !w.skewClocks(s) {
		return false, nil
	}
	w.begin()
	for w.collectItems(); !w.ended; w.collectItems() {
		switch {
		case w.idle() && !w.mayCancel():
			w.passIdleTime()
		case w.steps == maxSteps:
			w.cutShort = true
			w.abandon()
		case !w.choose(s):
			return false, nil
		}
	}
	return true, nil
}

// choose lets s choose, and makes the choice.
func (w *world) choose(s strategy.Chooser) bool {
	i := s.Choose(strategy.Point{Choices: w.enumerate(), Steps: w.steps})
	if i == strategy.Stop {
		return false
	}
	c := w.choices[i]
	w.made = append(w.made, c)
	w.steps++
	before := w.tape.Len()
	w.before(c)
	w.apply(c)
	w.bubble.Wait()
	w.events = w.tape.Tail(before, w.events[:0])
	w.effect.Observe(w.events)
	w.last = c.Verb
	s.Took(&w.effect)
	w.note(c)
	return true
}

// collectItems collects the items of all actors, when no goroutine runs.
func (w *world) collectItems() {
	for _, a := range w.actors {
		a.pending, a.late = a.pending[:0], a.late[:0]
	}
	for _, c := range w.server.Pending() {
		a := w.sender(c)
		switch {
		case a == nil:
		case c.Orphan():
			a.late = append(a.late, c)
		default:
			a.pending = append(a.pending, c)
		}
	}
	for _, a := range w.clients {
		asleep := a.call.inCall && !a.call.cancelled && !a.crashed && a.items() == 0
		if asleep && !a.call.asleep {
			a.call.rests++
		}
		a.call.asleep = asleep
	}
}

// idle reports whether nothing can run until time passes.
func (w *world) idle() bool {
	for _, a := range w.actors {
		for i := range a.items() {
			if w.ready(a, i) {
				return false
			}
		}
		for i := range a.late {
			if w.ready(a, strategy.LateCommand+i) {
				return false
			}
		}
	}
	return true
}

// ready reports whether the actor can continue with its n-th item now.
func (w *world) ready(a *actor, n int) bool {
	return (!a.crashed || n >= strategy.LateCommand) && !a.waits() && !w.skip.stops(a, a.item(n))
}

// passIdleTime lets time pass while nothing can run: until something can, or to the end of a time
// skip. It ends the schedule if nothing more will happen.
func (w *world) passIdleTime() {
	switch {
	case w.skip.active:
		if w.sleep(w.skip.until) {
			w.endSkip()
		}
	case w.allDone():
		w.ended = true
	case w.sleep(time.Now().Add(w.idleTimeout())):
		w.abandon()
	}
}

// sleep lets time pass until the given time, or until an actor needs the scheduler before that. It
// returns false in the latter case.
func (w *world) sleep(until time.Time) bool {
	for {
		select {
		case <-w.server.Arrived():
			continue
		case <-w.woken:
			continue
		default:
		}
		break
	}
	w.count.Add(1)
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	lasted := false
	select {
	case <-w.server.Arrived():
	case <-w.woken:
	case <-timer.C:
		lasted = true
	}
	w.bubble.Wait()
	return lasted
}

// idleTimeout returns the virtual time after which an inactive client is abandoned.
func (w *world) idleTimeout() time.Duration {
	return time.Minute + 10*(w.cfg.TTL+w.cfg.Wait+w.cfg.Design.Tolerance)
}

// abandon ends the schedule although clients have not returned: they wait for an event that never
// comes.
func (w *world) abandon() {
	w.ended = true
	for _, a := range w.clients {
		if !a.done() {
			a.process.affected = true
		}
	}
}

// proceed lets the actor continue with an item: from its park up to and including the next command,
// or with a command. how runs the command.
func (w *world) proceed(a *actor, nth int, how func(*stepserver.Command) stepserver.Effect) {
	c := a.item(nth)
	if c == nil {
		c = w.stepToCommand(a)
	}
	if c != nil {
		w.ran(c, how(c))
	}
}

// stepToCommand lets a parked actor continue, and returns the next command that it sends: nil if it
// sends none, or if that command was pending before the park.
func (w *world) stepToCommand(a *actor) *stepserver.Command {
	if a.parkedAt == dies {
		w.die(a, strategy.VerbDieBefore)
		return nil
	}
	known, access := len(a.pending), a.accesses
	a.unpark()
	w.bubble.Wait()
	if access {
		return nil
	}
	for _, c := range w.server.Pending() {
		if w.sender(c) == a && !c.Orphan() && !contains(a.pending[:known], c) {
			return c
		}
	}
	return nil
}

func contains(all []*stepserver.Command, c *stepserver.Command) bool {
	for _, o := range all {
		if o == c {
			return true
		}
	}
	return false
}

// execute runs a command and records its effect.
func (w *world) execute(c *stepserver.Command) stepserver.Effect {
	e := w.runOnServer(c, w.server.Run)
	w.effect.Server = append(w.effect.Server, e)
	return e
}
