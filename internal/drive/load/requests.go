package load

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/workloads"
)

// requests are the requests of a client of process p, nil if the client locks.
func (r *run) requests(p *process) *workloads.Requests {
	store, can := r.store.(workloads.AtomicStore)
	if !can || r.cfg.Design.Control != design.OneRequest {
		return nil
	}
	return &workloads.Requests{Store: store, Sent: func() { p.sent.sent.Add(1) }}
}

// faulted puts locker under the faults of the run, if there are any.
func (c *client) faulted(id int, locker lockbench.Locker) lockbench.Locker {
	if c.process.faults == nil {
		return locker
	}
	c.faults = c.process.faults.Client(id, c.record)
	return c.faults.Locker(locker)
}
