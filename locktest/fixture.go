package locktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/occupancy"
	"github.com/lockbench/lockbench/locktest/internal/guard"
	"github.com/lockbench/lockbench/workloads"
)

// A fixture is the state that the owners of one side of a test case share: a key of their own, and
// a record.
type fixture struct {
	ctx       context.Context
	key       string
	ttl       time.Duration
	unit      time.Duration // of leases; zero is any
	tolerance time.Duration
	timeout   time.Duration // after which the lock gives a try up by itself; zero if not declared
	think     time.Duration // before each call of an owner, see trial.think
	copy      int           // which of the sides it is
	short     bool
	can       abilities
	random    *rand.Rand // for the test case's own goroutine
	owners    []*owner
	run       *workloads.Run
	store     lockbench.Store
	notes     *notes
	vigil     vigil
	servers   []func(context.Context) error
	stood     func() time.Duration // how long the machine or the server has stood still so far
	monitor   *occupancy.Monitor   // nil if it could not be trusted
}

// slack is how long after the end of a lease the key may still be refused, as in the checker.
func (s *fixture) slack() time.Duration { return time.Second + s.tolerance }

// notes collects the troubles of a case that the record does not show.
type notes struct {
	mu           sync.Mutex
	wrong        []error // faults that no lock may have
	errors       int     // calls with an unexpected error
	first        error
	waits, woken int      // waits for a key that was released meanwhile: all, and the granted ones
	hurried      *hurried // nil if the lock waits, or was not told to
	lapses       int      // holds that ended although they were to be renewed, without a standstill
	patient      int      // waits for a key that was held for longer
	impatient    int      // far shorter waits for such a key, without a standstill
}

func (n *notes) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wrong = append(n.wrong, err)
}

// trouble notes err, which a step of a client returned, unless it is nil.
func (n *notes) trouble(err error) {
	if err == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.errors++; n.first == nil {
		n.first = err
	}
}

// An owner is one Locker of the lock under test, guarded and recorded, with the client that
// performs the steps of a case.
type owner struct {
	fixture *fixture
	client  *workloads.Client
	guard   *guard.Guard
	record  *history.Client
	crashed atomic.Bool
	granted bool  // the key, before
	failed  error // of the last acquire; nil if it was granted
	// deadline is the time that the next call has, in ns, plus one; 0 is no limit.
	deadline atomic.Int64
}

// noting notes whether the acquires of its owner fail, and how.
type noting struct {
	lockbench.Locker
	owner *owner
}

// Acquire implements lockbench.Locker.
func (l noting) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, opt)
	l.owner.failed, l.owner.granted = err, l.owner.granted || err == nil
	return lease, err
}

// Step implements workloads.Driver.
func (o *owner) Step(string) { time.Sleep(o.fixture.think) }

// Rest implements workloads.Driver.
func (o *owner) Rest(_ context.Context, d time.Duration) bool { return o.fixture.sleep(d) }

// Sleep implements workloads.Driver.
func (o *owner) Sleep(_ context.Context, d time.Duration) bool { return o.fixture.sleep(d) }

// Die implements workloads.Driver.
func (o *owner) Die() { o.die() }

// pace is the time between two tries of a waiting owner.
func (s *fixture) pace() time.Duration { return max(s.ttl/200, time.Millisecond) }

// share makes the state that the owners' clients share. The name of each key begins with the name
// before.
func (s *fixture) share(keys int) {
	s.run = workloads.NewRun(workloads.Options{Keys: keys, TTL: 4 * s.ttl, Depth: 3}.OrDefaults(), nil)
	for i := range s.run.Keys {
		s.run.Keys[i] = s.key + strings.Repeat("1", i)
	}
}

// nameOddly gives the keys names that break locks which cut, trim, fold or hash names. A key keeps its
// plain name if the lock turns a name of that kind away. The names that are tried are no keys of the
// case, since a release may fail.
func (s *fixture) nameOddly(g *guard.Guard) {
	odd := func(base string) []string { return workloads.OddKeys(base, base+"{"+base+"}") }
	names := odd(s.key)
	for i, name := range odd(s.key + "/look") {
		if lease, err := g.Acquire(s.ctx, name, lockbench.Options{TTL: s.ttl}); err == nil {
			s.run.Keys[i] = names[i]
			s.notes.trouble(lease.Release(s.ctx))
		}
	}
}

// enlist makes owner id of the fixture.
func (s *fixture) enlist(id int32, g *guard.Guard, r *history.Recorder) {
	record := r.Client(id, id)
	o := &owner{fixture: s, guard: g, record: record}
	record.GivesUp(s.timeout)
	if s.can.session {
		record.Grants(func(time.Duration) time.Duration { return 0 })
	}
	locker := record.Locker(noting{design.Around(g, o.within), o})
	if s.monitor != nil {
		locker = s.monitor.MortalLocker(locker, o.crashed.Load)
	}
	o.client = s.run.Client(int(id), locker, record.Store(s.store))
	o.client.Driver = o
	s.owners = append(s.owners, o)
}

// acquire asks for ttl repeatedly until wait is over. It makes single tries, because the start of
// the lease is known only for a single try. The last try is called after wait, even if the tries
// before it took longer: only the last try must be granted a free key. acquire returns nil if no
// try was granted.
func (o *owner) acquire(ttl, wait time.Duration) lockbench.Lease {
	over := time.Now().Add(wait)
	for {
		last := !time.Now().Before(over)
		if lease := o.ask(lockbench.Options{TTL: ttl}); lease != nil {
			return lease
		}
		if last || !o.fixture.sleep(o.fixture.pace()) {
			return nil
		}
	}
}

// wait acquires in the lock's own way of waiting, if the leases tell since when they are valid;
// otherwise a grant after a wait proves nothing. In that case, and for the rest of the wait if the
// lock refuses too soon, wait makes single tries, like acquire.
func (o *owner) wait(ttl, wait time.Duration) lockbench.Lease {
	over := time.Now().Add(wait)
	if o.fixture.can.validity {
		if lease := o.ask(lockbench.Options{TTL: ttl, Wait: wait}); lease != nil {
			return lease
		}
	}
	return o.acquire(ttl, time.Until(over))
}

// ask calls Acquire once.
func (o *owner) ask(opt lockbench.Options) lockbench.Lease {
	opt.TTL = o.fixture.roundUp(opt.TTL)
	lease, err := o.client.AcquireWith(o.fixture.ctx, opt)
	o.fixture.notes.trouble(err)
	return lease
}

// lease returns the lease that this copy of a case outwaits. In every other copy it is no whole
// number of seconds, because a lock may cut it to one.
func (s *fixture) lease() time.Duration {
	if s.copy%2 == 1 {
		return s.ttl
	}
	return s.fractional()
}

// fractional returns a lease of one and a half TTLs, or half a second more if these are whole
// seconds, that the lock can grant.
func (s *fixture) fractional() time.Duration {
	ttl := s.ttl + s.ttl/2
	if ttl%time.Second == 0 {
		ttl += time.Second / 2
	}
	return s.roundUp(ttl)
}

// roundUp returns a lease of at least ttl that the lock can grant.
func (s *fixture) roundUp(ttl time.Duration) time.Duration { return roundUp(ttl, s.unit) }

// roundUp returns ttl rounded up to a multiple of unit; zero is any.
func roundUp(ttl, unit time.Duration) time.Duration {
	unit = max(1, unit)
	return (ttl + unit - 1).Truncate(unit)
}

// release releases lease, unless it is nil. It returns false if the outcome is unknown.
func (o *owner) release(lease lockbench.Lease) bool {
	if lease == nil {
		return true
	}
	err := o.client.Release(o.fixture.ctx, lease)
	o.fixture.notes.trouble(err)
	return err == nil
}

// extend extends lease, and reports whether that succeeded.
func (o *owner) extend(lease lockbench.Lease, ttl time.Duration) bool {
	extended, err := o.client.Extend(o.fixture.ctx, lease, o.fixture.roundUp(ttl))
	o.fixture.notes.trouble(err)
	return extended
}

func (o *owner) releaseAfter(lease lockbench.Lease, d time.Duration) {
	o.fixture.notes.trouble(o.client.ReleaseAfter(o.fixture.ctx, lease, d))
}

// die ends the owner, as a crash would, and leaves its holds. A lock that renews by itself has to
// be closed for that, which may release the holds; losses that it reports then are no notices of a
// loss. A session is closed after the death is on record, since closing frees its holds; false
// means that the close took too long to tell when the session ended.
func (o *owner) die() bool {
	time.Sleep(o.fixture.think)
	o.crashed.Store(true) // before it is on record, for the monitor
	o.record.Dying()
	if o.fixture.can.renews {
		o.record.GivingUp() // the close may release holds
		o.guard.Close()     // before the death is on record: until the close the lock may renew
	}
	o.record.Die("abandoned")
	if !o.fixture.can.session {
		return true
	}
	began := time.Now()
	o.guard.Close()
	return time.Since(began) < o.fixture.slack()/2
}

// sleep waits; false means that the time for the case is over.
func (s *fixture) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// below draws a random time below d.
func (s *fixture) below(d time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(d)))
}

// together lets all owners run f at the same time.
func (s *fixture) together(f func(*owner)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for _, o := range s.owners {
		all.Go(func() {
			defer s.contain()
			<-start
			f(o)
		})
	}
	close(start)
	all.Wait()
}

// contain keeps a panic of a call without a guard, such as Fence, within the case.
func (s *fixture) contain() {
	if x := recover(); x != nil {
		s.notes.fail(fmt.Errorf("panicked: %v\n%s", x, debug.Stack()))
	}
}
