package load

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/workloads"
)

// requests are what a client of process p makes in place of locking, nil where it locks.
func (r *run) requests(p *process) *workloads.Requests {
	store, can := r.store.(workloads.AtomicStore)
	if !can || r.cfg.Design.Control != design.OneRequest {
		return nil
	}
	return &workloads.Requests{Store: store, Sent: func() { p.sent.sent.Add(1) }}
}

// faulted has a locker's client under the faults of the run, where there are any.
func (c *client) faulted(id int, locker lockbench.Locker) lockbench.Locker {
	if c.process.faults == nil {
		return locker
	}
	c.faults = c.process.faults.Client(id, c.record)
	return c.faults.Locker(locker)
}
