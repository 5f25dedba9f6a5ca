package load

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/workloads"
)

// A client makes a share of the load by one owner at a time. If that owner dies, another one
// follows.
type client struct {
	number  int
	group   *group
	owner   *workloads.Client
	process *process
	faults  *inject.Client  // nil in a run without faults
	record  *history.Client // nil when nothing is recorded
}

// totals has the counts of a run's clients: the counts of each live client, and the sum for dead
// clients. It is safe for concurrent use.
type totals struct {
	mu   sync.Mutex
	live []*workloads.Client
	dead counts
}

// counts has the fields of workloads.Counts.
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
	c.live = append(c.live, one)
}

// leave moves the counts of a dead client to gone.
func (c *totals) leave(one *workloads.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead.add(&one.Counts)
	c.live = slices.DeleteFunc(c.live, func(other *workloads.Client) bool { return other == one })
}

// total is the sum over all clients so far.
func (c *totals) total() counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.dead
	for _, one := range c.live {
		all.add(&one.Counts)
	}
	return all
}

// newOwner gives c a new owner with this id, in process p.
func (r *run) newOwner(c *client, id int, p *process) {
	c.process = p
	requests := r.requests(p)
	locker, store := r.lockerOf(c, id, requests)
	c.owner = c.group.shared.Client(id, locker, store)
	c.owner.Place = c.number - c.group.first
	c.owner.Requests, c.owner.Slow = requests, r.isSlow(c)
	r.totals.join(c.owner)
}

// isSlow reports whether c is the staller that works past its lease on its key.
func (r *run) isSlow(c *client) bool {
	return c.group == r.stalled && c.number-c.group.first < len(c.group.shared.Keys)
}

// letStall delays the other stallers of a key by a tenth of the lease, so that the slow one
// acquires it first.
func (r *run) letStall(c *client) {
	if c.group != r.stalled || r.isSlow(c) {
		return
	}
	select {
	case <-time.After(time.Until(c.group.shared.Start.Add(c.group.options.TTL / 10))):
	case <-c.group.over:
	}
}

// lockerOf returns the locker of owner id: recorded, monitored and subject to faults. Requests, if
// not nil, replace the lock, and are not monitored: with them there is no time at which a client is
// inside.
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
	if c.process.connections != nil {
		c.process.connections.Client(id, record)
	}
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

// makeLoad makes c's share of the load, by one owner and, after each death, by another.
func (r *run) makeLoad(ctx context.Context, c *client, share int64) {
	r.letStall(c)
	for id := c.number; ; {
		share = r.work(ctx, c, share)
		crashed := c.faults != nil && c.faults.Crashed()
		if crashed { // another client may have replaced it, so that the end of the run would not close it
			_ = c.process.close()
		}
		if !crashed || share == 0 || c.isOver() {
			return
		}
		fresh := r.readyAt(ctx, c.group.place(c.number))
		if fresh == nil {
			return // the run ends by it
		}
		r.totals.leave(c.owner)
		c.record.Retire()
		id += r.options.Clients + r.options.Stallers
		r.newOwner(c, id, fresh)
	}
}

// work lets the owner of c iterate until the share is done, the run is over or the client dies; in
// an open loop it begins when an arrival is due. It returns the rest of the share.
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
		_ = c.owner.Iterate(ctx, r.cfg.Workload) // the error is counted, and in the history
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
