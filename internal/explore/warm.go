package explore

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// warmUp lets one client use the lock alone before the first schedule. The world learns the
// abilities of the leases and whether the lock reads the clock; the server learns the scripts of
// the lock, like one that has been in use for a while.
func (w *world) warmUp() error {
	if err := w.open(); err != nil {
		return err
	}
	var lacks error
	a := w.clients[0]
	locker := a.process.inner.Locker(beliefObserver{a.record, a})
	a.start(func() { lacks = w.useAllAbilities(locker) })
	for w.bubble.Wait(); !a.exited; w.bubble.Wait() {
		if !w.serve() && w.sleep(time.Now().Add(w.idleTimeout())) {
			break
		}
	}
	w.server.KeepScripts()
	w.skews = w.clockRead.Load()
	w.seconds = w.skews && wholeSeconds(w.cfg.Design)
	for _, other := range w.clients {
		other.exited = other.exited || other != a
	}
	w.trailer = history.End{}
	w.end()
	return lacks
}

// useAllAbilities calls every ability of a lease.
func (w *world) useAllAbilities(l lockbench.Locker) error {
	opt := lockbench.Options{TTL: w.cfg.TTL}
	lease, err := l.Acquire(w.ctx, w.shared.Keys[0], opt)
	if err != nil || lease == nil {
		return nil // the schedules will show the error
	}
	extender, extends := lockbench.Ability[lockbench.Extender](lease)
	delayer, delays := lockbench.Ability[lockbench.DelayedReleaser](lease)
	for _, need := range w.program.Needs {
		if need == workloads.Extends && !extends || need == workloads.Delays && !delays {
			return &LacksError{Scenario: w.program.Name, Ability: need}
		}
	}
	if again, err := l.Acquire(w.ctx, w.shared.Keys[0], opt); err == nil && again != nil {
		_ = again.Release(w.ctx)
	}
	if d := &w.cfg.Design; d.Renews || d.RenewsUnseen {
		time.Sleep(w.cfg.TTL)
	}
	if extends {
		_ = extender.Extend(w.ctx, w.cfg.TTL)
	}
	if t, can := lockbench.Ability[lockbench.TTLer](lease); can {
		_, _ = t.TTL(w.ctx)
	}
	if delays && slices.Contains(w.program.Needs, workloads.Delays) {
		_ = delayer.ReleaseAfter(w.ctx, time.Millisecond)
		return nil
	}
	_ = lease.Release(w.ctx)
	return nil
}
