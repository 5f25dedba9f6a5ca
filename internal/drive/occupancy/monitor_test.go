package occupancy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// open is a lock that grants every acquire; each client's leases have the
// abilities of a telling lease, unless blind.
type open struct {
	blind   bool
	granted time.Duration // zero is the TTL asked for
	lost    chan struct{}
	fails   error // of releases and extends
}

func (o open) Acquire(_ context.Context, _ string, opt lockbench.Options) (lockbench.Lease, error) {
	if o.blind {
		return nothing{}, nil
	}
	granted := opt.TTL
	if o.granted > 0 {
		granted = o.granted
	}
	return &tellingLease{from: time.Now(), granted: granted, open: o}, nil
}

type tellingLease struct {
	open
	from    time.Time
	granted time.Duration
}

func (l *tellingLease) Release(context.Context) error { return l.fails }

func (l *tellingLease) ReleaseAfter(context.Context, time.Duration) error { return l.fails }

func (l *tellingLease) Valid() (time.Time, time.Duration) { return l.from, l.granted }

func (l *tellingLease) Lost() <-chan struct{} { return l.lost }

func (l *tellingLease) Extend(_ context.Context, ttl time.Duration) error {
	if l.fails == nil {
		l.from, l.granted = time.Now(), ttl
	}
	return l.fails
}

// nothing is a lease that can only be released.
type nothing struct{}

func (nothing) Release(context.Context) error { return nil }

// scene is two clients, a and b, at one key, with leases of a second.
type scene struct {
	t    *testing.T
	a, b lockbench.Locker
}

func (s scene) acquire(l lockbench.Locker, wait time.Duration) lockbench.Lease {
	lease, err := l.Acquire(s.t.Context(), "key", lockbench.Options{TTL: time.Second, Wait: wait})
	if err != nil {
		s.t.Fatal(err)
	}
	return lease
}

func (s scene) extend(lease lockbench.Lease, ttl time.Duration) {
	e, ok := lockbench.Ability[lockbench.Extender](lease)
	if !ok {
		s.t.Fatal("the watched lease cannot be extended")
	}
	_ = e.Extend(s.t.Context(), ttl)
}

func TestMonitor(t *testing.T) {
	ctx := context.Background()
	closed := make(chan struct{})
	close(closed)
	tests := []struct {
		name   string
		lock   open // a's; b's is the plain one
		nested bool
		play   func(scene)
		want   int64
	}{
		{"two inside", open{}, false, func(s scene) { s.acquire(s.a, 0); s.acquire(s.b, 0) }, 1},
		{"one after the other", open{}, false, func(s scene) { s.acquire(s.a, 0).Release(ctx); s.acquire(s.b, 0) }, 0},
		{"first is past validity", open{}, false, func(s scene) { s.acquire(s.a, 0); time.Sleep(time.Second); s.acquire(s.b, 0) }, 0},
		{"first is just within validity", open{}, false, func(s scene) { s.acquire(s.a, 0); time.Sleep(time.Second - 1); s.acquire(s.b, 0) }, 1},
		{"more was granted than asked for", open{granted: 3 * time.Second}, false, func(s scene) { s.acquire(s.a, 0); time.Sleep(2 * time.Second); s.acquire(s.b, 0) }, 1},
		{"validity counts from the call where it is not told", open{blind: true}, false, func(s scene) { s.acquire(s.a, 0); time.Sleep(time.Second - 1); s.acquire(s.b, 0) }, 1},
		{"validity unknown after a wait", open{blind: true}, false, func(s scene) { s.acquire(s.a, time.Minute); s.acquire(s.b, 0) }, 0},
		{"the first knows of its loss", open{lost: closed}, false, func(s scene) { s.acquire(s.a, 0); s.acquire(s.b, 0) }, 0},
		{"a release without effect still leaves", open{fails: lockbench.ErrNoEffect}, false, func(s scene) { s.acquire(s.a, 0).Release(ctx); s.acquire(s.b, 0) }, 0},
		{"extended", open{}, false, func(s scene) {
			lease := s.acquire(s.a, 0)
			time.Sleep(time.Second / 2)
			s.extend(lease, time.Second)
			time.Sleep(time.Second - 1)
			s.acquire(s.b, 0)
		}, 1},
		{"extend shortens", open{}, false, func(s scene) {
			s.extend(s.acquire(s.a, 0), time.Second/2)
			time.Sleep(time.Second / 2)
			s.acquire(s.b, 0)
		}, 0},
		{"extend into another's hold", open{}, false, func(s scene) {
			lease := s.acquire(s.a, 0)
			time.Sleep(time.Second)
			s.acquire(s.b, 0)
			s.extend(lease, time.Second)
		}, 1},
		{"extend that failed leaves", open{fails: lockbench.ErrNotHeld}, false, func(s scene) {
			s.extend(s.acquire(s.a, 0), time.Second)
			s.acquire(s.b, 0)
		}, 0},
		{"own second acquire is no overlap", open{}, true, func(s scene) { s.acquire(s.a, 0); s.acquire(s.a, 0) }, 0},
		{"inner release keeps the outer inside", open{}, true, func(s scene) {
			s.acquire(s.a, 0)
			s.acquire(s.a, 0).Release(ctx)
			s.acquire(s.b, 0)
		}, 1},
		{"what a nested acquire adds is not believed", open{}, true, func(s scene) {
			s.acquire(s.a, 0)
			time.Sleep(time.Second / 2)
			s.acquire(s.a, 0)
			time.Sleep(time.Second / 2)
			s.acquire(s.b, 0)
		}, 0},
		{"outer release leaves", open{}, true, func(s scene) {
			outer := s.acquire(s.a, 0)
			s.acquire(s.a, 0).Release(ctx)
			outer.Release(ctx)
			s.acquire(s.b, 0)
		}, 0},
		{"inner release frees where it does not count", open{}, false, func(s scene) {
			s.acquire(s.a, 0)
			s.acquire(s.a, 0).Release(ctx)
			s.acquire(s.b, 0)
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := New([]string{"key"}, tt.nested)
				tt.play(scene{t, w.Locker(tt.lock), w.Locker(open{})})
				want := map[string]int64{}
				if tt.want > 0 {
					want["key"] = tt.want
				}
				if diff := cmp.Diff(w.Overlaps(), want); diff != "" {
					t.Errorf("overlaps (-got +want):\n%s", diff)
				}
				if w.Entries() == 0 {
					t.Error("no entry was watched")
				}
			})
		})
	}
}

func TestMonitorKeepsAbilities(t *testing.T) {
	w := New([]string{"key"}, false)
	for _, blind := range []bool{false, true} {
		lease := scene{t: t}.acquire(w.Locker(open{blind: blind}), 0)
		_, extends := lockbench.Ability[lockbench.Extender](lease)
		_, delays := lockbench.Ability[lockbench.DelayedReleaser](lease)
		_, fences := lockbench.Ability[lockbench.Fencer](lease)
		got := []bool{extends, delays, fences}
		if diff := cmp.Diff(got, []bool{!blind, !blind, false}); diff != "" {
			t.Errorf("blind %v: extends, delays, fences (-got +want):\n%s", blind, diff)
		}
	}
}

// TestMonitorUnderRace lets many clients use few keys of a lock that excludes
// nobody: it must count, and the race detector must be silent.
func TestMonitorUnderRace(t *testing.T) {
	w := New([]string{"a", "b"}, false)
	done := make(chan struct{})
	const clients, rounds = 4, 2000
	for i := range clients {
		l := w.Locker(open{})
		go func() {
			defer func() { done <- struct{}{} }()
			for n := range rounds {
				lease, err := l.Acquire(t.Context(), []string{"a", "b"}[(n+i)%2], lockbench.Options{TTL: time.Second})
				if err == nil {
					_ = lease.Release(t.Context())
				}
			}
		}()
	}
	for range clients {
		<-done
	}
	if got := w.Entries(); got != clients*rounds {
		t.Errorf("entries = %d, want %d", got, clients*rounds)
	}
}
