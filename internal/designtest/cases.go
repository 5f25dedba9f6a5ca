package designtest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// patience bounds the time that a wedged lock may take in a case.
const patience = 10 * time.Second

var cases = []testCase{
	{"a held key is refused and free again after release", lockbench.Cell{}, refuseAndFree},
	{"keys are apart", lockbench.Cell{}, keysApart},
	{"a waiter is granted the key", lockbench.Cell{}, waiterGranted},
	{"nothing stays for ever", lockbench.Cell{}, nothingForEver},
	{"the lease tells its validity", lockbench.Cell{}, tellsValidity},
	{"acquiring again", lockbench.Cell{}, acquiringAgain},
	{"extending", lockbench.Cell{}, extending},
	{"reading the time left", lockbench.Cell{}, readingTTL},
	{"fences rise", lockbench.Fencing.At(0), fencesRise},
	{"a loser is told", lockbench.LossReported.At(0), loserTold},
	{"a second release is told", lockbench.LossReported.At(0), secondReleaseTold},
	{"a late release frees nobody else's lock", lockbench.OwnerRelease.At(0), lateReleaseHarmless},
	{"one at a time", lockbench.Exclusion.At(0), oneAtATime},
	{"a cancelled acquire leaves nothing", lockbench.Recovery.At(lockbench.Cancel), cancelledAcquire},
	{"scripts may be flushed", lockbench.Answers.At(lockbench.ScriptFlush), scriptsFlushed},
}

func refuseAndFree(s *Scene) {
	a, b := s.Locker(), s.Locker()
	held := s.Acquire(a)
	s.Refused(b)
	s.Release(held)
	held = s.Acquire(b)
	s.Refused(a)
	s.Release(held)
}

func keysApart(s *Scene) {
	held := s.Acquire(s.Locker())
	other, err := s.Locker().Acquire(s.Context(), Key+"-2", lockbench.Options{TTL: s.TTL})
	if err != nil {
		s.Fatalf("acquire of another key: %v", err)
	}
	s.Release(held)
	s.Release(other)
}

// waiterGranted makes the waiter ready to wait past the lease: some locks otherwise give up at
// once, and some wait for the end of the lease, so it is short. It may end before the release.
// Libraries give each try a part of the lease, so they keep the default.
func waiterGranted(s *Scene) {
	if s.design.Library == "" {
		s.TTL = 2 * time.Second
	}
	held := s.Acquire(s.Locker())
	b, seen := s.Owner()
	granted := make(chan error, 1)
	go func() {
		_, err := b.Acquire(s.Context(), Key, lockbench.Options{TTL: s.TTL, Wait: time.Minute + s.TTL})
		granted <- err
	}()
	<-seen.First
	if err := held.Release(s.Context()); err != nil && !errors.Is(err, lockbench.ErrNotHeld) {
		s.Errorf("release: %v", err)
	}
	if err := <-granted; err != nil {
		s.Errorf("the waiter got %v", err)
	}
}

func nothingForEver(s *Scene) {
	held := s.Acquire(s.Locker())
	if len(s.Keys()) == 0 {
		s.Errorf("held, yet no key with prefix %q", s.Env.Prefix)
	}
	s.Mortal()
	s.Release(held)
	s.Mortal()
}

func tellsValidity(s *Scene) {
	l, seen := s.Owner()
	asked := time.Now()
	held := s.Acquire(l)
	v, ok := lockbench.Ability[lockbench.Validator](held)
	if !ok {
		s.Fatalf("%T does not tell its validity", held)
	}
	from, granted := v.Valid()
	starts := seen.Starts()
	if len(starts) != 1 || !from.Equal(starts[0]) && !s.tellsItself(from, asked) {
		s.Errorf("valid from %v, want the start of the only attempt, of %v", from, starts)
	}
	if want := s.Granted(s.TTL); granted != want {
		s.Errorf("granted %v, want %v", granted, want)
	}
}

// tellsItself reports whether from is a library's own reading of the clock, in ms, between the
// call and now.
func (s *Scene) tellsItself(from, asked time.Time) bool {
	return s.design.Library != "" && from.After(asked.Add(-2*time.Millisecond)) && from.Before(time.Now())
}

func acquiringAgain(s *Scene) {
	a, b := s.Locker(), s.Locker()
	first := s.Acquire(a)
	if s.design.Reacquire == design.Refused {
		s.Refused(a)
		s.Release(first)
		return
	}
	second := s.Acquire(a)
	s.Release(second)
	if s.design.Reacquire == design.Nested {
		s.Refused(b)
		s.Release(first)
	}
	s.Release(s.Acquire(b))
}

func extending(s *Scene) {
	held := s.Acquire(s.Locker())
	e, ok := lockbench.Ability[lockbench.Extender](held)
	if !ok {
		s.Skipf("%s cannot extend", s.design.Name)
	}
	before, longer := time.Now(), 2*s.TTL
	if err := e.Extend(s.Context(), longer); err != nil {
		s.Fatalf("extend: %v", err)
	}
	for name, left := range s.Keys() {
		if left <= s.TTL+time.Second || left > longer+time.Second { // whole seconds round up
			s.Errorf("key %s has %v left after an extend to %v", name, left, longer)
		}
	}
	v, _ := lockbench.Ability[lockbench.Validator](held)
	from, granted := v.Valid()
	if from.Before(before) || from.After(time.Now()) || granted != s.Granted(longer) {
		s.Errorf("valid from %v for %v, want from the extend's call (after %v) for %v", from, granted, before, s.Granted(longer))
	}
}

func readingTTL(s *Scene) {
	held := s.Acquire(s.Locker())
	r, ok := lockbench.Ability[lockbench.TTLer](held)
	if !ok {
		s.Skipf("%s cannot tell the time left", s.design.Name)
	}
	if left, err := r.TTL(s.Context()); err != nil || left <= 0 || left > s.Granted(s.TTL) {
		s.Errorf("time left %v, error %v, want within (0, %v]", left, err, s.Granted(s.TTL))
	}
	s.Expire()
	if left, err := r.TTL(s.Context()); err != nil || left != 0 {
		s.Errorf("time left of a lost lock %v, error %v, want 0", left, err)
	}
}

// fencesRise checks fences across a release, an expiry and a refusal.
func fencesRise(s *Scene) {
	last := uint64(0)
	rises := func(held lockbench.Lease) {
		f, ok := lockbench.Ability[lockbench.Fencer](held)
		if !ok {
			s.Fatalf("%T has no fence", held)
		}
		if n := f.Fence(); n <= last {
			s.Errorf("fence %d after %d", n, last)
		}
		last = f.Fence()
	}
	held := s.Acquire(s.Locker())
	rises(held)
	s.Refused(s.Locker())
	s.Release(held)
	rises(s.Acquire(s.Locker()))
	s.Expire()
	held = s.Acquire(s.Locker())
	rises(held)
	s.Release(held)
}

func loserTold(s *Scene) {
	a, b := s.Locker(), s.Locker()
	lost := s.Acquire(a)
	s.Expire()
	held := s.Acquire(b)
	if e, ok := lockbench.Ability[lockbench.Extender](lost); ok {
		s.Want(e.Extend(s.Context(), s.TTL), lockbench.ErrNotHeld)
	}
	s.Want(lost.Release(s.Context()), lockbench.ErrNotHeld)
	s.Release(held)
}

func secondReleaseTold(s *Scene) {
	held := s.Acquire(s.Locker())
	s.Release(held)
	s.Want(held.Release(s.Context()), lockbench.ErrNotHeld)
}

func lateReleaseHarmless(s *Scene) {
	a, b, c := s.Locker(), s.Locker(), s.Locker()
	lost := s.Acquire(a)
	s.Expire()
	held := s.Acquire(b)
	_ = lost.Release(s.Context()) // its answer belongs to another guarantee
	s.Refused(c)
	s.Release(held)
}

// oneAtATime lets owners enter as often as they can. A wedged lock fails it, too, after a
// while.
func oneAtATime(s *Scene) {
	const owners, rounds = 4, 10
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	var inside atomic.Int32
	enter := func(l lockbench.Locker) error {
		held, err := l.Acquire(ctx, Key, lockbench.Options{TTL: time.Minute})
		if err != nil {
			return err
		}
		if others := inside.Add(1) - 1; others != 0 {
			s.Errorf("%d others inside", others)
		}
		inside.Add(-1)
		return held.Release(ctx)
	}
	var done sync.WaitGroup
	for range owners {
		l := s.Locker()
		done.Go(func() {
			for n := 0; n < rounds; {
				switch err := enter(l); {
				case err == nil:
					n++
				case !errors.Is(err, lockbench.ErrNotAcquired) || ctx.Err() != nil:
					s.Errorf("after %d of %d rounds: %v", n, rounds, err)
					return
				}
			}
		})
	}
	done.Wait()
}

// cancelledAcquire checks that nothing remains after the lease, which is short: a command
// under way when the context ends may still be executed, after the holder's release.
func cancelledAcquire(s *Scene) {
	a, b := s.Locker(), s.Locker()
	opt := lockbench.Options{TTL: time.Second, Wait: s.TTL + patience}
	if held, err := b.Acquire(cancelled(s.Context()), Key, opt); !errors.Is(err, context.Canceled) || held != nil {
		s.Errorf("cancelled before: got lease %v, error %v", held, err)
	}
	held := s.Acquire(a)
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	waiter, seen := s.Owner()
	go func() {
		<-seen.First
		cancel()
	}()
	if held, err := waiter.Acquire(ctx, Key, opt); err == nil || held != nil {
		s.Errorf("cancelled while it waited: got lease %v, error %v", held, err)
	}
	s.Release(held)
	held, err := a.Acquire(s.Context(), Key, lockbench.Options{TTL: s.TTL, Wait: s.TTL})
	if err != nil {
		s.Fatalf("acquire after a cancelled one: %v", err)
	}
	s.Release(held)
}

func scriptsFlushed(s *Scene) {
	for range 2 {
		s.flushScripts()
		held := s.Acquire(s.Locker())
		s.flushScripts()
		s.Release(held)
	}
}

func (s *Scene) flushScripts() {
	for _, admin := range s.admins {
		if err := admin.ScriptFlush(s.Context()).Err(); err != nil {
			s.Fatalf("SCRIPT FLUSH: %v", err)
		}
	}
}
