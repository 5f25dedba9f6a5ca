package occupancy

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
)

// A Monitor counts the clients inside the critical section of each key, in memory and
// beside the lock under test, so that it does not depend on the server. It shares no
// code with the checker and cross-checks it: the checker must find every overlap in
// the history. The Monitor may miss some: it lets a client in only after a grant
// returned, takes it out before any call that could end or change the grant, and
// trusts a validity only if it is certain.
//
// A Monitor is safe for concurrent use.
type Monitor struct {
	base   time.Time
	nested bool // a second acquire by the holder counts (design.Nested)
	sites  map[string]*site
}

// New returns a monitor of keys; it ignores other keys. nested reports whether the
// design counts a second acquire by the holder.
func New(keys []string, nested bool) *Monitor {
	w := &Monitor{base: time.Now(), nested: nested, sites: make(map[string]*site, len(keys))}
	for _, key := range keys {
		w.sites[key] = &site{base: w.base}
	}
	return w
}

// Locker returns inner, watched as one more owner. Its leases have the abilities of
// inner's leases; find them with [lockbench.Ability].
func (w *Monitor) Locker(inner lockbench.Locker) lockbench.Locker {
	return w.MortalLocker(inner, nil)
}

// MortalLocker is Locker for an owner that may die. Once dead returns true, which
// must happen before the death is recorded, the owner is inside nothing.
func (w *Monitor) MortalLocker(inner lockbench.Locker, dead func() bool) lockbench.Locker {
	return &monitored{monitor: w, inner: inner, dead: dead}
}

// Overlaps returns, for each key that had any, the number of entries while another
// client was inside, within both validities.
func (w *Monitor) Overlaps() map[string]int64 {
	found := make(map[string]int64)
	for key, s := range w.sites {
		if n := s.overlapped.Load(); n > 0 {
			found[key] = n
		}
	}
	return found
}

// Entries returns how many entries were watched.
func (w *Monitor) Entries() int64 {
	var n int64
	for _, s := range w.sites {
		s.mu.Lock()
		n += s.entries
		s.mu.Unlock()
	}
	return n
}

// A site is the critical section of one key.
type site struct {
	base       time.Time
	overlapped atomic.Int64

	mu      sync.Mutex
	entries int64
	inside  []*holding
	_       [64]byte // sites of different keys do not share a cache line
}

// A holding is the presence of one client in one site.
type holding struct {
	site  *site
	depth int             // acquires not yet released
	until time.Duration   // end of validity, since base
	lost  <-chan struct{} // closed when the design learns of the loss; may be nil
	dead  func() bool     // reports the client's death; nil if it cannot die
}

// enter puts g inside until it leaves.
func (s *site) enter(g *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.inside) > 0 && s.shared(g) {
		s.overlapped.Add(1)
	}
	if g.dead != nil { // others may be dead, too, and never leave
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
func (s *site) shared(g *holding) bool {
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
func (s *site) leave(g *holding) {
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

// valid reports whether g was certainly valid at now. Loss and death are checked
// after the clock was read: if they are not known yet, they were not known then.
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

// monitored is the watched Locker of one client.
type monitored struct {
	monitor  *Monitor
	inner    lockbench.Locker
	dead     func() bool    // see MortalLocker
	holdings []*holding     // the client's grips
	told     bool           // the leases state their validity: no need to read the clock
	key      string         // the last one acquired, and
	site     *site          // its site: most clients come back to it
	leases   []watchedLease // made, but not given out yet
	_        [64]byte       // clients do not share a cache line
}

// Acquire enters when the lock was granted with a known validity.
func (l *monitored) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	var called time.Duration
	if !l.told && opt.Wait == 0 {
		called = time.Since(l.monitor.base)
	}
	lease, err := l.inner.Acquire(ctx, key, opt)
	s := l.siteOf(key)
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

// leaseChunk is the number of leases that a client makes at a time, to save
// allocations. A lease that is kept keeps the others made with it.
const leaseChunk = 32

func (l *monitored) wrap(lease lockbench.Lease) *watchedLease {
	if len(l.leases) == 0 {
		l.leases = make([]watchedLease, leaseChunk)
	}
	watched := &l.leases[0]
	l.leases = l.leases[1:]
	watched.Lease, watched.locker = lease, l
	return watched
}

// take counts one more acquire. A nested one can only shorten the known validity:
// whether it prolonged the outer lease depends on the design.
func (g *holding) take(until time.Duration, nested bool) {
	if g.depth > 0 && nested {
		g.depth++
		g.until = min(g.until, until)
		return
	}
	g.depth, g.until = 1, until
}

// until is the end of the granted validity, zero if it is unknown: an acquire that
// may have waited could have been granted at any time since called.
func (l *monitored) until(lease lockbench.Lease, called time.Duration, opt lockbench.Options) time.Duration {
	if v, ok := lease.(lockbench.Validator); ok { // useless if the lease within has none
		if from, granted := v.Valid(); !from.IsZero() {
			l.told = true
			return from.Sub(l.monitor.base) + granted
		}
	}
	if opt.Wait > 0 || l.told {
		return 0
	}
	return called + opt.TTL
}

// lostOf returns the channel of the design itself, beneath all decorators, which may
// report the loss later than they recorded it.
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

func (l *monitored) siteOf(key string) *site {
	if l.site == nil || key != l.key {
		l.key, l.site = key, l.monitor.sites[key]
	}
	return l.site
}

// holdingOf returns the client's grip on s, taken out of the site while it changes; or
// fresh if it has none.
func (l *monitored) holdingOf(s *site, fresh *holding) *holding {
	for _, g := range l.holdings {
		if g.site == s {
			s.leave(g)
			return g
		}
	}
	fresh.site, fresh.dead = s, l.dead
	l.holdings = append(l.holdings, fresh)
	return fresh
}

// drop forgets g, which has left its site.
func (l *monitored) drop(g *holding) {
	for i := range l.holdings {
		if l.holdings[i] == g {
			last := len(l.holdings) - 1
			l.holdings[i], l.holdings[last] = l.holdings[last], nil
			l.holdings = l.holdings[:last]
			return
		}
	}
}
