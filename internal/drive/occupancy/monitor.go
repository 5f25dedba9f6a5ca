package occupancy

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
)

// A Monitor counts the clients inside the critical section of each key, in the memory of this
// process, independently of the server. It shares no code with the checker and cross-checks it: the
// checker must find every overlap that the Monitor finds. The Monitor may miss some. It lets a
// client in only after a grant returned, takes it out before any call that could end or change the
// grant, and relies on a validity only if that is certain.
//
// A Monitor is safe for concurrent use.
type Monitor struct {
	base     time.Time
	nested   bool // a second acquire by the owner adds a level (design.Nested)
	sections map[string]*section
}

// New returns a monitor of these keys; it ignores others. nested is set if a second acquire by the
// owner adds a level.
func New(keys []string, nested bool) *Monitor {
	w := &Monitor{base: time.Now(), nested: nested, sections: make(map[string]*section, len(keys))}
	for _, key := range keys {
		w.sections[key] = &section{base: w.base}
	}
	return w
}

// Locker returns inner, monitored as one more owner. Its leases have the abilities of inner's
// leases, see [lockbench.Ability].
func (w *Monitor) Locker(inner lockbench.Locker) lockbench.Locker {
	return w.MortalLocker(inner, nil)
}

// MortalLocker is Locker for an owner that may die. From the moment that dead returns true, which
// must be before the death is recorded, the owner is inside no critical section.
func (w *Monitor) MortalLocker(inner lockbench.Locker, dead func() bool) lockbench.Locker {
	return &monitoredLocker{monitor: w, inner: inner, dead: dead}
}

// Overlaps returns, for each key that has any, the number of entries into the critical section
// while another client was inside, both within their validity.
func (w *Monitor) Overlaps() map[string]int64 {
	found := make(map[string]int64)
	for key, s := range w.sections {
		if n := s.overlapped.Load(); n > 0 {
			found[key] = n
		}
	}
	return found
}

// Entries returns the number of entries into critical sections.
func (w *Monitor) Entries() int64 {
	var n int64
	for _, s := range w.sections {
		s.mu.Lock()
		n += s.entries
		s.mu.Unlock()
	}
	return n
}

// A section is the critical section of one key.
type section struct {
	base       time.Time
	overlapped atomic.Int64

	mu      sync.Mutex
	entries int64
	inside  []*holding
	_       [64]byte // sites of different keys do not share a cache line
}

// A holding is one owner's grant of a key.
type holding struct {
	section *section
	depth   int             // acquires that were not released
	until   time.Duration   // end of validity, since base
	lost    <-chan struct{} // closed when the design learns of the loss; may be nil
	dead    func() bool     // reports the client's death; nil if it cannot die
}

// enter puts g inside until leave is called.
func (s *section) enter(g *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.inside) > 0 && s.shared(g) {
		s.overlapped.Add(1)
	}
	if g.dead != nil { // other clients may have died, and never leave
		s.inside = slices.DeleteFunc(s.inside, (*holding).gone)
	}
	s.inside = append(s.inside, g)
	s.entries++
}

// gone reports whether the client has died.
func (g *holding) gone() bool { return g.dead != nil && g.dead() }

// shared reports whether g and another client inside are both valid. The clock is
// read under the mutex: at that instant every client inside is past the return of its
// acquire and before the call that ends it.
func (s *section) shared(g *holding) bool {
	now := time.Since(s.base)
	if !g.valid(now) {
		return false
	}
	for _, other := range s.inside {
		if other.valid(now) {
			return true
		}
	}
	return false
}

// leave removes g, which need not be inside.
func (s *section) leave(g *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.inside {
		if other == g {
			last := len(s.inside) - 1
			s.inside[i], s.inside[last] = s.inside[last], nil
			s.inside = s.inside[:last]
			return
		}
	}
}

// valid reports whether g was certainly valid at now. Loss and death are checked after the clock
// was read: if they are not known yet, they were not known at that time.
func (g *holding) valid(now time.Duration) bool {
	if g.until <= now || g.gone() {
		return false
	}
	select {
	case <-g.lost:
		return false
	default:
		return true
	}
}

// A monitoredLocker is the Locker of one client. The monitor watches its leases.
type monitoredLocker struct {
	monitor        *Monitor
	inner          lockbench.Locker
	dead           func() bool    // see MortalLocker
	holdings       []*holding     // of this client
	statesValidity bool           // the leases state their validity, so the clock need not be read
	key            string         // the key acquired last
	section        *section       // the section of key: most clients acquire the same key again
	leases         []watchedLease // unused ones, made in advance
	_              [64]byte       // keeps clients from sharing a cache line
}

// Acquire enters when the lock was granted with a known validity.
func (l *monitoredLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	var called time.Duration
	if !l.statesValidity && opt.Wait == 0 {
		called = time.Since(l.monitor.base)
	}
	lease, err := l.inner.Acquire(ctx, key, opt)
	s := l.sectionOf(key)
	if err != nil || lease == nil || s == nil {
		return lease, err
	}
	watched := l.wrap(lease)
	watched.holding = l.holdingOf(s, &watched.own)
	watched.holding.take(l.until(lease, called, opt), l.monitor.nested)
	watched.holding.lost = lostOf(lease)
	s.enter(watched.holding)
	return watched, nil
}

// leaseChunk is the number of leases that a client allocates at a time. Keeping one keeps the whole
// chunk in memory.
const leaseChunk = 32

func (l *monitoredLocker) wrap(lease lockbench.Lease) *watchedLease {
	if len(l.leases) == 0 {
		l.leases = make([]watchedLease, leaseChunk)
	}
	watched := &l.leases[0]
	l.leases = l.leases[1:]
	watched.Lease, watched.locker = lease, l
	return watched
}

// take adds an acquire. A nested one can only shorten the known validity: whether it prolongs the
// outer lease depends on the design.
func (g *holding) take(until time.Duration, nested bool) {
	if g.depth > 0 && nested {
		g.depth++
		g.until = min(g.until, until)
		return
	}
	g.depth, g.until = 1, until
}

// until returns the end of the granted validity, zero if it is unknown. An acquire that waited may
// have been granted at any time since called.
func (l *monitoredLocker) until(lease lockbench.Lease, called time.Duration, opt lockbench.Options) time.Duration {
	if v, ok := lockbench.Ability[lockbench.Validator](lease); ok {
		if from, granted := v.Valid(); !from.IsZero() {
			l.statesValidity = true
			return from.Sub(l.monitor.base) + granted
		}
	}
	if opt.Wait > 0 || l.statesValidity {
		return 0
	}
	return called + opt.TTL
}

// lostOf returns the channel of the design itself, below all decorators: these may report the loss
// later than they recorded it.
func lostOf(lease lockbench.Lease) <-chan struct{} {
	inner := lease
	for {
		w, wraps := inner.(interface{ Unwrap() lockbench.Lease })
		if !wraps {
			break
		}
		inner = w.Unwrap()
	}
	own, ok := inner.(lockbench.Watcher) // most leases have none, and return here
	if !ok {
		return nil
	}
	if _, ok := lockbench.Ability[lockbench.Watcher](lease); !ok {
		return nil
	}
	return own.Lost()
}

func (l *monitoredLocker) sectionOf(key string) *section {
	if l.section == nil || key != l.key {
		l.key, l.section = key, l.monitor.sections[key]
	}
	return l.section
}

// holdingOf returns the client's holding of s, taken out of the section while it changes, or fresh
// if there is none.
func (l *monitoredLocker) holdingOf(s *section, fresh *holding) *holding {
	for _, g := range l.holdings {
		if g.section == s {
			s.leave(g)
			return g
		}
	}
	fresh.section, fresh.dead = s, l.dead
	l.holdings = append(l.holdings, fresh)
	return fresh
}

// drop removes g, which has left its section, from the client's holdings.
func (l *monitoredLocker) drop(g *holding) {
	for i := range l.holdings {
		if l.holdings[i] == g {
			last := len(l.holdings) - 1
			l.holdings[i], l.holdings[last] = l.holdings[last], nil
			l.holdings = l.holdings[:last]
			return
		}
	}
}
