package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// probeSlack is how long the probe waits past the end of each lease, and between its attempts. It
// covers rounding and polling, as in the checker.
const probeSlack = time.Second

// probeTries is how often a probe tries to acquire a refused key.
const probeTries = 3

// finish probes the locks that the schedule may have left, and ends the record.
func (w *world) finish() (err error) {
	if w.ended && (len(w.faults) > 0 || len(w.server.Ends(w.scratch.ends[:0])) > 0 || !w.allDone()) {
		err = w.probe()
	}
	w.trailer = history.End{Trailer: history.Trailer{EndNS: int64(w.now())}}
	return err
}

// probe waits until every lease must be over. Then a client in a process of its own acquires every
// key. Clients that are stuck are disconnected before.
func (w *world) probe() error {
	for _, a := range w.clients {
		if !a.done() {
			w.server.Kill(a.process.number)
			a.process.crashed = true
		}
	}
	longest := w.cfg.TTL
	if granted := w.cfg.Design.Granted; granted != nil {
		longest = granted(longest)
	}
	w.pass(longest + w.cfg.Design.Tolerance + 2*w.skewed() + probeSlack)
	if err := w.prober.process.open(); err != nil {
		return err
	}
	w.server.Attribute(w.prober.process.number, w.prober.number)
	w.assign(w.prober)
	inner := w.prober.process.inner.Locker(beliefObserver{w.prober.record, w.prober})
	locker := w.prober.record.Locker(inner)
	w.prober.start(func() { w.tryAll(locker) })
	for w.bubble.Wait(); !w.prober.exited; w.bubble.Wait() {
		if !w.serve() && w.sleep(time.Now().Add(w.idleTimeout())) {
			w.prober.process.affected = true
			return nil
		}
	}
	return nil
}

// tryAll is the part of the prober.
func (w *world) tryAll(l lockbench.Locker) {
	for _, key := range w.shared.Keys {
		for range probeTries {
			lease, err := l.Acquire(w.ctx, key, lockbench.Options{TTL: w.cfg.TTL})
			if err == nil && lease != nil {
				_ = lease.Release(w.ctx)
				break
			}
			if design.Sleep(w.ctx, probeSlack) != nil {
				return
			}
		}
	}
}

// serve runs the first pending command, if there is one. There are no choices any more.
func (w *world) serve() bool {
	for _, c := range w.server.Pending() {
		w.served(c, w.server.Run(c))
		return true
	}
	return false
}

// pass lets time pass, and runs the commands that live processes send meanwhile.
func (w *world) pass(d time.Duration) {
	for until := time.Now().Add(d); ; {
		w.bubble.Wait()
		if !w.serve() && w.sleep(until) {
			return
		}
	}
}

// joinTimeout is the longest virtual time in which lock code must return after all its connections
// are broken and its contexts have ended.
const joinTimeout = time.Minute

// end joins all goroutines of the schedule, so that nothing of it runs in the next one.
func (w *world) end() {
	w.stopping = true
	quiet := w.allReturned() // asked before clients are woken, because it reads their data
	var waiting []*process
	if !quiet {
		waiting = w.waiting()
	}
	w.cancel()
	if !quiet {
		w.endWaits(waiting)
	}
	for _, p := range w.processes {
		p.close()
	}
	w.prober.process.close()
	w.server.Retire()
	w.join(time.Second)
}

// allReturned reports whether every client returned and no command is pending.
func (w *world) allReturned() bool {
	return w.unfinished() == nil && len(w.server.Pending())+len(w.server.Blocked()) == 0
}

// waiting returns the processes that have unfinished clients or pending commands.
func (w *world) waiting() (all []*process) {
	for _, p := range append(slices.Clone(w.processes), w.prober.process) {
		if p.inner != nil && w.isUnfinished(p) {
			all = append(all, p)
		}
	}
	return all
}

// endWaits ends the waits of clients: it breaks the connections of their processes, then ends their
// own steps, then lets time pass.
func (w *world) endWaits(waiting []*process) {
	for _, p := range waiting {
		p.affected, p.crashed = true, true
		w.server.Kill(p.number)
	}
	w.server.Retire()
	w.bubble.Wait()
	for _, a := range w.clients {
		if a.parkedAt != "" && !a.exited {
			a.unpark()
		}
	}
	w.join(joinTimeout)
}

// isUnfinished reports whether the process has a client that has not returned, or a pending
// command.
func (w *world) isUnfinished(p *process) bool {
	for _, a := range append(slices.Clone(w.clients), w.prober) {
		if a.process == p && !a.exited {
			return true
		}
	}
	for _, c := range w.server.Pending() {
		if c.Process == p.number {
			return true
		}
	}
	return slices.ContainsFunc(w.server.Blocked(), func(c *stepserver.Command) bool { return c.Process == p.number })
}

// join waits for the clients' goroutines.
func (w *world) join(atMost time.Duration) {
	for until := time.Now().Add(atMost); ; {
		w.bubble.Wait()
		left := w.unfinished()
		if left == nil {
			return
		}
		if left.parkedAt != "" {
			left.unpark()
			continue
		}
		if !time.Now().Before(until) {
			w.defect(fmt.Sprintf("%s: the lock does not return from a call although its context and its connections have ended; hint: it leaks a goroutine", left.name))
			left.dismiss()
			left.exited, w.leaks = true, true
		}
		w.count.Add(1)
		time.Sleep(100 * time.Millisecond)
	}
}
