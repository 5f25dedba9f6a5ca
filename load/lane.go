package load

import (
	"context"
	"sync"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/workloads"
)

// A lane is what one client after another does of the load: another one only when the
// one before died.
type lane struct {
	number int
	client *workloads.Client
	home   *home
	faults *faults.Client // nil in a run without faults
}

// crew are the clients there ever were, for those who add up what they were told.
type crew struct {
	mu  sync.Mutex
	all []*workloads.Client
}

func (c *crew) join(one *workloads.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, one)
}

func (c *crew) members() []*workloads.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
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
		return r.witness.Locker(process.Locker(design.Blind)), r.guarded
	}
	record := r.recorder.Client(int32(id), int32(l.home.number))
	record.Grants(r.cfg.Design.Granted)
	locker, store := record.Locker(process.Locker(record)), record.Store(r.guarded)
	if l.home.faults == nil {
		return r.witness.Locker(locker), store
	}
	l.faults = l.home.faults.Client(id, record)
	return l.faults.Locker(r.witness.MortalLocker(locker, l.faults.Dead)), l.faults.Store(store)
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
		id += r.options.Clients
		r.enlist(l, id, fresh)
	}
}

// work has the lane's client make iterations until the share is done, the run is over
// or the client dies. It returns what is left of the share.
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
		_ = l.client.Iterate(ctx, r.cfg.Workload) // counted, and in the history
	}
	return share
}

func (r *run) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}
