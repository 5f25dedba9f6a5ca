package load

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/inject"
	"github.com/lockbench/lockbench/workloads"
)

// A client makes a share of the load, by one owner after another: another one only when
// the one before died.
type client struct {
	number  int
	group   *group
	owner   *workloads.Client
	process *process
	faults  *inject.Client  // nil in a run without faults
	record  *history.Client // nil when nothing is recorded
}

// Totals add up what the clients of a run were told: each client that is there, and the
// counts of those that died. It is safe for concurrent use.
type totals struct {
	mu   sync.Mutex
	here []*workloads.Client
	gone counts
}

// counts is what clients were told, see workloads.Counts.
type counts struct{ grants, refused, lost, failed, done, skipped int64 }

func (t *counts) add(n *workloads.Counts) {
	t.grants += n.Grants.Load()
	t.refused += n.Refused.Load()
	t.lost += n.Lost.Load()
	t.failed += n.Failed.Load()
	t.done += n.Done.Load()
	t.skipped += n.Skipped.Load()
}

func (c *totals) join(one *workloads.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here = append(c.here, one)
}

// leave takes out a client that is told nothing more.
func (c *totals) leave(one *workloads.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone.add(&one.Counts)
	c.here = slices.DeleteFunc(c.here, func(other *workloads.Client) bool { return other == one })
}

// total is what all of them were told so far.
func (c *totals) total() counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.gone
	for _, one := range c.here {
		all.add(&one.Counts)
	}
	return all
}

// enlist gives c an owner with this id, that lives in p.
func (r *run) enlist(c *client, id int, p *process) {
	c.process = p
	requests := r.requests(p)
	locker, store := r.lockerOf(c, id, requests)
	c.owner = c.group.shared.Client(id, locker, store)
	c.owner.Requests, c.owner.Slow = requests, r.isSlow(c)
	r.totals.join(c.owner)
}

// isSlow reports whether c is the one of the stallers of its key that stalls.
func (r *run) isSlow(c *client) bool {
	return c.group == r.stalled && c.number-c.group.first < len(c.group.shared.Keys)
}

// letStall has those that come after the one of their key that stalls begin a little later.
func (r *run) letStall(c *client) {
	if c.group != r.stalled || r.isSlow(c) {
		return
	}
	select {
	case <-time.After(time.Until(c.group.shared.Start.Add(c.group.options.TTL / 10))):
	case <-c.group.over:
	}
}

// lockerOf makes the owner that client id is: recorded, watched and under faults. Requests, where
// not nil, take the place of locks: nobody can be beside another.
func (r *run) lockerOf(c *client, id int, requests *workloads.Requests) (lockbench.Locker, lockbench.Store) {
	process := c.process.inner
	if r.recorder == nil && requests != nil {
		return requests, r.guarded
	}
	if r.recorder == nil {
		return r.monitor.Locker(process.Locker(design.Blind)), r.guarded
	}
	record := r.recorder.Client(int32(id), int32(c.process.number))
	record.Grants(r.cfg.Design.Granted)
	if r.cfg.Design.Leaseless {
		record.Grants(func(time.Duration) time.Duration { return 0 })
	}
	c.record = record
	if requests != nil {
		return c.faulted(id, record.Locker(requests)), record.Store(r.guarded)
	}
	locker, store := record.Locker(process.Locker(record)), record.Store(r.guarded)
	if c.process.faults == nil {
		return r.monitor.Locker(locker), store
	}
	c.faults = c.process.faults.Client(id, record)
	return c.faults.Locker(r.monitor.MortalLocker(locker, c.faults.Crashed)), c.faults.Store(store)
}

// live does the share of the load that c has: by its owner and, where that dies, by
// others after it.
func (r *run) live(ctx context.Context, c *client, share int64) {
	r.letStall(c)
	for id := c.number; ; {
		share = r.work(ctx, c, share)
		if share == 0 || c.isOver() || c.faults == nil || !c.faults.Crashed() {
			return
		}
		_ = c.process.close() // it has crashed, and is nobody's any more
		fresh := r.processAt(c.group.place(c.number))
		if fresh == nil {
			return
		}
		r.totals.leave(c.owner)
		c.record.Retire()
		id += r.options.Clients + r.options.Stallers
		r.enlist(c, id, fresh)
	}
}

// work has the owner of c make iterations, in an open loop when they are due, until
// the share is done, the run is over or the client dies. It returns what is left of the
// share.
func (r *run) work(ctx context.Context, c *client, share int64) int64 {
	if c.faults != nil {
		var done, stopWaiting context.CancelFunc
		ctx, done = c.faults.Context(ctx)
		defer done()
		c.owner.Waiting, stopWaiting = c.faults.Context(c.group.shared.Waiting)
		defer stopWaiting()
	}
	for ; share != 0; share-- {
		if c.isOver() || c.faults != nil && c.faults.Crashed() {
			break
		}
		if done, ok := r.arrive(ctx, c); done {
			return 0
		} else if !ok {
			break
		}
		_ = c.owner.Iterate(ctx, r.cfg.Workload) // counted, and in the history
	}
	return share
}

// arrive waits, in an open loop, for the next arrival of c. See dispatcher.next.
func (r *run) arrive(ctx context.Context, c *client) (done, ok bool) {
	if r.arrivals == nil || c.group != r.measured {
		return false, true
	}
	due, done, ok := r.arrivals.next(ctx)
	if ok && c.record != nil {
		c.record.Intended(due)
	}
	return done, ok
}

func (c *client) isOver() bool {
	select {
	case <-c.group.over:
		return true
	default:
		return false
	}
}
