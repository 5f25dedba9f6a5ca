package designtest

import (
	"context"
	"errors"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// cases are the requirements that package locktest does not test: they take the keys of the server,
// the design's own entry, or an answer that no guarantee is about.
var cases = []testCase{
	{"keys are apart", lockbench.Cell{}, keysApart},
	{"a waiter is granted the key", lockbench.Cell{}, waiterGranted},
	{"nothing stays for ever", lockbench.Cell{}, nothingForEver},
	{"the lease tells its validity", lockbench.Cell{}, tellsValidity},
	{"acquiring again", lockbench.Cell{}, acquiringAgain},
	{"extending", lockbench.Cell{}, extending},
	{"reading the time left", lockbench.Cell{}, readingTTL},
	{"a second release is told", lockbench.LossReported.At(0), secondReleaseTold},
	{"a cancelled acquire returns its context's error", lockbench.Cell{}, cancelledAcquire},
	{"scripts may be flushed", lockbench.Answers.At(lockbench.ScriptFlush), scriptsFlushed},
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

func secondReleaseTold(s *Scene) {
	held := s.Acquire(s.Locker())
	s.Release(held)
	s.Want(held.Release(s.Context()), lockbench.ErrNotHeld)
}

// cancelledAcquire checks an acquire with a context that has already ended.
func cancelledAcquire(s *Scene) {
	opt := lockbench.Options{TTL: s.TTL, Wait: s.TTL}
	if held, err := s.Locker().Acquire(cancelled(s.Context()), Key, opt); !errors.Is(err, context.Canceled) || held != nil {
		s.Errorf("got lease %v, error %v, want %v", held, err, context.Canceled)
	}
	s.Release(s.Acquire(s.Locker()))
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
