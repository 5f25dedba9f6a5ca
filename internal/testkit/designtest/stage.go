package designtest

import (
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// A Stage is a service that is not Redis, with two processes of a design.
type Stage[S design.Service] struct {
	Design    design.Design
	Service   S
	Processes [2]design.Process
}

// OpenStage opens two processes of a design, which end with t. Their keys begin with prefix.
func OpenStage[S design.Service](t *testing.T, d design.Design, on S, prefix string) *Stage[S] {
	t.Helper()
	s := &Stage[S]{Design: d, Service: on}
	for i := range s.Processes {
		p, err := d.Open(design.Environment{Services: []any{on.Reach()}, Prefix: prefix + ":"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() }) // it may be closed
		s.Processes[i] = p
	}
	return s
}

// Owner returns an owner of a process.
func (s *Stage[S]) Owner(process int) lockbench.Locker {
	return s.Processes[process].Locker(design.Blind)
}

// Acquire makes one try to acquire [Key].
func Acquire(t *testing.T, l lockbench.Locker) (lockbench.Lease, error) {
	t.Helper()
	return l.Acquire(t.Context(), Key, lockbench.Options{TTL: time.Minute})
}

// OneOwnerAtATime checks that a key has one owner until the release, which is told once.
func (s *Stage[S]) OneOwnerAtATime(t *testing.T) {
	a := s.Owner(0)
	held, err := Acquire(t, a)
	if err != nil {
		t.Fatal(err)
	}
	if _, granted := held.(lockbench.Validator).Valid(); (granted == 0) != s.Design.Leaseless {
		t.Errorf("a lease of %v", granted)
	}
	for _, l := range []lockbench.Locker{a, s.Owner(0), s.Owner(1)} {
		if _, err := Acquire(t, l); !errors.Is(err, lockbench.ErrNotAcquired) {
			t.Errorf("a second acquire: %v, want that it is refused", err)
		}
	}
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := held.Release(t.Context()); !errors.Is(err, lockbench.ErrNotHeld) {
		t.Errorf("released twice: %v", err)
	}
	for _, l := range []lockbench.Locker{a, s.Owner(1)} {
		again, err := Acquire(t, l)
		if err != nil {
			t.Fatalf("after the release: %v", err)
		}
		if fencer, is := again.(lockbench.Fencer); is && fencer.Fence() <= held.(lockbench.Fencer).Fence() {
			t.Errorf("fence %d after %d", fencer.Fence(), held.(lockbench.Fencer).Fence())
		}
		if _, err := Acquire(t, a); !errors.Is(err, lockbench.ErrNotAcquired) { // also not in a session that was put back twice
			t.Errorf("a second acquire after the release: %v, want that it is refused", err)
		}
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
		held = again
	}
}

// LeaseEnds checks that a key comes free at the end of its lease, that the past owner is told and changes
// nothing, and that the next one extends its lease.
func (s *Stage[S]) LeaseEnds(t *testing.T) {
	if s.Design.Leaseless {
		t.Skip("it has no lease")
	}
	acquire := func(process int, opt lockbench.Options) lockbench.Lease {
		l, err := s.Owner(process).Acquire(t.Context(), Key, opt)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	past := acquire(0, lockbench.Options{TTL: 50 * time.Millisecond})
	held := acquire(1, lockbench.Options{TTL: time.Minute, Wait: time.Minute})
	for _, err := range []error{past.(lockbench.Extender).Extend(t.Context(), time.Minute), past.Release(t.Context())} {
		if !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("the past owner: %v, want that it holds nothing", err)
		}
	}
	if err := held.(lockbench.Extender).Extend(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, granted := held.(lockbench.Validator).Valid(); granted != time.Hour {
		t.Errorf("extended to %v, want an hour", granted)
	}
	if _, err := Acquire(t, s.Owner(0)); !errors.Is(err, lockbench.ErrNotAcquired) {
		t.Errorf("beside the next owner: %v, want that it is refused", err)
	}
	if err := held.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// ProcessEnds checks that the end of a process frees a lock without a lease, and no other.
func (s *Stage[S]) ProcessEnds(t *testing.T) {
	held, err := Acquire(t, s.Owner(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Processes[0].Close(); err != nil {
		t.Fatal(err)
	}
	opt := lockbench.Options{TTL: time.Minute}
	if s.Design.Leaseless {
		opt.Wait = time.Minute // the server learns of the end
	}
	_, err = s.Owner(1).Acquire(t.Context(), Key, opt)
	if free := err == nil; free != s.Design.Leaseless {
		t.Errorf("after the end: %v", err)
	}
	if err := held.Release(t.Context()); err == nil {
		t.Error("released after the end")
	}
}
