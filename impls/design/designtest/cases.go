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

var cases = []testCase{
	{"a held key is refused and free again after release", "", refuseAndFree},
	{"keys are apart", "", keysApart},
	{"a waiter is granted the key", "", waiterGranted},
	{"nothing stays for ever", "", nothingForEver},
	{"the lease tells its validity", "", tellsValidity},
	{"acquiring again", "", acquiringAgain},
	{"extending", "", extending},
	{"reading the time left", "", readingTTL},
	{"a loser is told", lockbench.LossReported, loserTold},
	{"a second release is told", lockbench.LossReported, secondReleaseTold},
	{"a late release frees nobody else's lock", lockbench.OwnerRelease, lateReleaseHarmless},
	{"one at a time", lockbench.Exclusion, oneAtATime},
	{"a cancelled acquire leaves nothing", lockbench.Cancel, cancelledAcquire},
	{"scripts may be flushed", lockbench.ScriptFlush, scriptsFlushed},
}

func refuseAndFree(s *stage) {
	a, b := s.locker(), s.locker()
	held := s.acquire(a)
	s.refused(b)
	s.release(held)
	held = s.acquire(b)
	s.refused(a)
	s.release(held)
}

func keysApart(s *stage) {
	held := s.acquire(s.locker())
	other, err := s.locker().Acquire(s.Context(), key+"-2", lockbench.Options{TTL: lease})
	if err != nil {
		s.Fatalf("acquire of another key: %v", err)
	}
	s.release(held)
	s.release(other)
}

func waiterGranted(s *stage) {
	held := s.acquire(s.locker())
	b, seen := s.owner()
	granted := make(chan error, 1)
	go func() {
		_, err := b.Acquire(s.Context(), key, lockbench.Options{TTL: lease, Wait: time.Minute})
		granted <- err
	}()
	<-seen.First
	s.release(held)
	if err := <-granted; err != nil {
		s.Errorf("the waiter got %v", err)
	}
}

func nothingForEver(s *stage) {
	held := s.acquire(s.locker())
	if len(s.keys()) == 0 {
		s.Errorf("held, yet no key with prefix %q", s.env.Prefix)
	}
	s.mortal()
	s.release(held)
	s.mortal()
}

func tellsValidity(s *stage) {
	l, seen := s.owner()
	held := s.acquire(l)
	v, ok := lockbench.Ability[lockbench.Validator](held)
	if !ok {
		s.Fatalf("%T does not tell its validity", held)
	}
	from, granted := v.Valid()
	starts := seen.Starts()
	if len(starts) != 1 || !from.Equal(starts[0]) {
		s.Errorf("valid from %v, want the start of the only attempt, of %v", from, starts)
	}
	if want := s.granted(lease); granted != want {
		s.Errorf("granted %v, want %v", granted, want)
	}
}

func acquiringAgain(s *stage) {
	a, b := s.locker(), s.locker()
	first := s.acquire(a)
	if s.design.Reacquire == design.Refused {
		s.refused(a)
		s.release(first)
		return
	}
	second := s.acquire(a)
	s.release(second)
	if s.design.Reacquire == design.Nested {
		s.refused(b)
		s.release(first)
	}
	s.release(s.acquire(b))
}

func extending(s *stage) {
	held := s.acquire(s.locker())
	e, ok := lockbench.Ability[lockbench.Extender](held)
	if !ok {
		s.Skipf("%s cannot extend", s.design.Name)
	}
	before := time.Now()
	if err := e.Extend(s.Context(), time.Minute); err != nil {
		s.Fatalf("extend: %v", err)
	}
	for name, left := range s.keys() {
		if left < time.Minute/2 {
			s.Errorf("key %s has %v left after an extend by a minute", name, left)
		}
	}
	v, _ := lockbench.Ability[lockbench.Validator](held)
	from, granted := v.Valid()
	if from.Before(before) || from.After(time.Now()) || granted != s.granted(time.Minute) {
		s.Errorf("valid from %v for %v, want from the extend's call (after %v) for %v", from, granted, before, s.granted(time.Minute))
	}
}

func readingTTL(s *stage) {
	held := s.acquire(s.locker())
	r, ok := lockbench.Ability[lockbench.TTLer](held)
	if !ok {
		s.Skipf("%s cannot tell the time left", s.design.Name)
	}
	if left, err := r.TTL(s.Context()); err != nil || left <= 0 || left > s.granted(lease) {
		s.Errorf("time left %v, error %v, want within (0, %v]", left, err, s.granted(lease))
	}
	s.expire()
	if left, err := r.TTL(s.Context()); err != nil || left != 0 {
		s.Errorf("time left of a lost lock %v, error %v, want 0", left, err)
	}
}

func loserTold(s *stage) {
	a, b := s.locker(), s.locker()
	lost := s.acquire(a)
	s.expire()
	held := s.acquire(b)
	if e, ok := lockbench.Ability[lockbench.Extender](lost); ok {
		s.want(e.Extend(s.Context(), lease), lockbench.ErrNotHeld)
	}
	s.want(lost.Release(s.Context()), lockbench.ErrNotHeld)
	s.release(held)
}

func secondReleaseTold(s *stage) {
	held := s.acquire(s.locker())
	s.release(held)
	s.want(held.Release(s.Context()), lockbench.ErrNotHeld)
}

func lateReleaseHarmless(s *stage) {
	a, b, c := s.locker(), s.locker(), s.locker()
	lost := s.acquire(a)
	s.expire()
	held := s.acquire(b)
	_ = lost.Release(s.Context()) // what it is told is another guarantee
	s.refused(c)
	s.release(held)
}

func oneAtATime(s *stage) {
	const owners, rounds = 4, 10
	var inside atomic.Int32
	var done sync.WaitGroup
	for range owners {
		l := s.locker()
		done.Go(func() {
			for n := 0; n < rounds && s.Context().Err() == nil; {
				held, err := l.Acquire(s.Context(), key, lockbench.Options{TTL: time.Minute})
				if errors.Is(err, lockbench.ErrNotAcquired) {
					continue
				}
				if err != nil {
					s.Errorf("acquire: %v", err)
					return
				}
				if others := inside.Add(1) - 1; others != 0 {
					s.Errorf("%d others inside", others)
				}
				inside.Add(-1)
				s.release(held)
				n++
			}
		})
	}
	done.Wait()
}

func cancelledAcquire(s *stage) {
	a, b := s.locker(), s.locker()
	opt := lockbench.Options{TTL: lease, Wait: time.Minute}
	if held, err := b.Acquire(cancelled(s.Context()), key, opt); !errors.Is(err, context.Canceled) || held != nil {
		s.Errorf("cancelled before: got lease %v, error %v", held, err)
	}
	held := s.acquire(a)
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	waiter, seen := s.owner()
	go func() {
		<-seen.First
		cancel()
	}()
	if held, err := waiter.Acquire(ctx, key, opt); err == nil || held != nil {
		s.Errorf("cancelled while it waited: got lease %v, error %v", held, err)
	}
	s.release(held)
	s.release(s.acquire(a))
}

func scriptsFlushed(s *stage) {
	for range 2 {
		if err := s.admin.ScriptFlush(s.Context()).Err(); err != nil {
			s.Fatalf("SCRIPT FLUSH: %v", err)
		}
		held := s.acquire(s.locker())
		if err := s.admin.ScriptFlush(s.Context()).Err(); err != nil {
			s.Fatalf("SCRIPT FLUSH: %v", err)
		}
		s.release(held)
	}
}
