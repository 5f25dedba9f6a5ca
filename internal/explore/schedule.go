package explore

import (
	"time"

	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/stepserver"
)

// maxSteps bounds one schedule, for locks that never stop trying.
const maxSteps = 5000

// run runs one schedule, chosen by s, up to its end: every client is done, crashed or
// given up, or s stops it. It returns false in the last case.
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

// collectItems collects the items of all actors, when nobody moves.
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

// idle reports whether nothing can run before time passes.
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

// ready reports whether the actor can go on with its n-th item now.
func (w *world) ready(a *actor, n int) bool {
	return (!a.crashed || n >= strategy.LateCommand) && !w.skip.stops(a, a.item(n))
}

// passIdleTime lets time pass while nothing can run: until something can, or up to the end of
// a move or pause. It ends the schedule if nothing more will happen.
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

// sleep lets time pass until then, or until an actor needs the scheduler; it returns
// whether it lasted.
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

// idleTimeout is how long the scheduler waits for an inactive client before it gives the
// client up.
func (w *world) idleTimeout() time.Duration {
	return time.Minute + 10*(w.cfg.TTL+w.cfg.Wait+w.cfg.Design.Tolerance)
}

// abandon ends the schedule although clients are not done: they wait for something
// that never comes.
func (w *world) abandon() {
	w.ended = true
	for _, a := range w.clients {
		if !a.done() {
			a.process.affected = true
		}
	}
}

// proceed lets the actor go on with an item: from its parking up to and including the
// next command, or with a command. how acts on the command.
func (w *world) proceed(a *actor, nth int, how func(*stepserver.Command) stepserver.Effect) {
	c := a.item(nth)
	if c == nil {
		c = w.stepToCommand(a)
	}
	if c != nil {
		w.ran(c, how(c))
	}
}

// stepToCommand lets a parked actor go on and returns the command that it comes to, nil if
// it comes to none, or if it was parked before a command that was already pending.
func (w *world) stepToCommand(a *actor) *stepserver.Command {
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
