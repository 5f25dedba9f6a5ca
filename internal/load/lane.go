package load

import (
	"context"
	"slices"
	"sync"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/workloads"
)

// A lane is what one client after another does of the load: another one only when the
// one before died.
type lane struct {
	number int
	client *workloads.Client
	home   *home
	faults *faults.Client  // nil in a run without faults
	record *history.Client // nil when nothing is recorded
}

// A crew are the clients of a run, for those who add up what they were told: each that
// is there, and what those who died were told. It is safe for concurrent use.
type crew struct {
	mu   sync.Mutex
	here []*workloads.Client
	gone told
}

// told is what clients were told, see workloads.Counts.
type told struct{ grants, refused, lost, failed, done, skipped int64 }

func (t *told) add(n *workloads.Counts) {
	t.grants += n.Grants.Load()
	t.refused += n.Refused.Load()
	t.lost += n.Lost.Load()
	t.failed += n.Failed.Load()
	t.done += n.Done.Load()
	t.skipped += n.Skipped.Load()
}

func (c *crew) join(one *workloads.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here = append(c.here, one)
}

// leave takes out a client that is told nothing more.
func (c *crew) leave(one *workloads.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone.add(&one.Counts)
	c.here = slices.DeleteFunc(c.here, func(other *workloads.Client) bool { return other == one })
}

// total is what all of them were told so far.
func (c *crew) total() told {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.gone
	for _, one := range c.here {
		all.add(&one.Counts)
	}
	return all
}

// enlist gives the lane a client with this id, that lives in h.
func (r *run) enlist(l *lane, id int, h *home) {
	l.home = h
	locker, store := r.lockerOf(l, id)
	l.client = r.shared.Client(id, locker, store)
	r.crew.join(l.client)
}

// lockerOf makes the owner that client id is: recorded, watched and under faults.
func (r *run) lockerOf(l *lane, id int) (lockbench.Locker, lockbench.Store) {
	process := l.home.process
	if r.recorder == nil {
		return r.monitor.Locker(process.Locker(design.Blind)), r.guarded
	}
	record := r.recorder.Client(int32(id), int32(l.home.number))
	record.Grants(r.cfg.Design.Granted)
	l.record = record
	locker, store := record.Locker(process.Locker(record)), record.Store(r.guarded)
	if l.home.faults == nil {
		return r.monitor.Locker(locker), store
	}
	l.faults = l.home.faults.Client(id, record)
	return l.faults.Locker(r.monitor.MortalLocker(locker, l.faults.Dead)), l.faults.Store(store)
}

// live does the lane's share of the load: by its client and, where that dies, by
// others after it.
func (r *run) live(ctx context.Context, l *lane, share int64) {
	for id := l.number; ; {
		share = r.work(ctx, l, share)
		if share == 0 || r.isOver() || l.faults == nil || !l.faults.Dead() {
			return
		}
		_ = l.home.close() // it is dead, and nobody's any more
		fresh := r.homeOf(l.number % r.options.Processes)
		if fresh == nil {
			return
		}
		r.crew.leave(l.client)
		l.record.Retire()
		id += r.options.Clients
		r.enlist(l, id, fresh)
	}
}

// work has the lane's client make iterations, in an open loop when they are due, until
// the share is done, the run is over or the client dies. It returns what is left of the
// share.
func (r *run) work(ctx context.Context, l *lane, share int64) int64 {
	if l.faults != nil {
		var done, stopWaiting context.CancelFunc
		ctx, done = l.faults.Context(ctx)
		defer done()
		l.client.Waiting, stopWaiting = l.faults.Context(r.shared.Waiting)
		defer stopWaiting()
	}
	for ; share != 0; share-- {
		if r.isOver() || l.faults != nil && l.faults.Dead() {
			break
		}
		if done, ok := r.arrive(ctx, l); done {
			return 0
		} else if !ok {
			break
		}
		_ = l.client.Iterate(ctx, r.cfg.Workload) // counted, and in the history
	}
	return share
}

// arrive waits, in an open loop, for the lane's next arrival. See dispatcher.next.
func (r *run) arrive(ctx context.Context, l *lane) (done, ok bool) {
	if r.arrivals == nil {
		return false, true
	}
	due, done, ok := r.arrivals.next(ctx)
	if ok && l.record != nil {
		l.record.Intended(due)
	}
	return done, ok
}

func (r *run) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}
