package locktest

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/fault"
)

// within returns the context of the next call, with the owner's deadline if there is one, for clients
// to pass on to their connections. The
// deadline is on record from the start of the call, since it is unknown when a client heeds it.
func (o *owner) within(ctx context.Context) (context.Context, func()) {
	after := o.deadline.Swap(0)
	if after == 0 {
		return ctx, func() {}
	}
	time.Sleep(max(o.fixture.think, time.Microsecond)) // so that the stamps of the call and of the fault differ
	o.record.Fault(string(fault.Cancel), 0)
	time.Sleep(o.fixture.think)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(after-1))
	return ctx, cancel
}

// over makes the context of the owner's next call end early: before the call or, in every other
// round, within took, the time that a call took.
func (o *owner) over(round int, took time.Duration) *owner {
	after := time.Duration(0)
	if round%2 == 1 {
		after = o.fixture.below(took)
	}
	o.deadline.Store(int64(after) + 1)
	return o
}

// callWhenOver ends the contexts of acquires and releases of a free and a held key or, on the other
// keys of a lock that can be lost, of releases and extends by an owner that lost it.
func callWhenOver(s *fixture) {
	begun := time.Now()
	s.owners[0].release(s.owners[0].acquire(s.ttl, 0))
	took := time.Since(begun) + 1
	for round := range s.rounds(8) {
		late := s.copy > 0 && !s.can.lasts()
		if time.Since(begun) > 3*s.ttl || late && !s.callLate(round, took) {
			return
		}
		if !late {
			s.callHeld(round, took)
		}
	}
}

// callHeld ends the contexts of an acquire of the free key, an acquire of the held key, and the
// release of the held key.
func (s *fixture) callHeld(round int, took time.Duration) {
	first, holder, third := s.owners[0], s.owners[1], s.owners[2]
	first.release(first.over(round, took).ask(lockbench.Options{TTL: s.ttl}))
	held := holder.acquire(s.ttl, s.ttl+2*s.slack())
	first.release(first.over(round, took).ask(lockbench.Options{TTL: s.ttl}))
	if held != nil {
		holder.over(round, took).release(held)
	}
	third.release(third.acquire(s.ttl, s.ttl+2*s.slack()))
}

// callLate lets an owner that lost the key release or extend it, while the next one holds it. It
// returns false if there was nobody to lose it.
func (s *fixture) callLate(round int, took time.Duration) bool {
	first, next, third := s.owners[0], s.owners[1], s.owners[2]
	old := first.acquire(s.ttl, 0)
	if old == nil {
		return false
	}
	fresh := next.acquire(8*s.ttl, s.ttl+s.slack())
	if fresh == nil {
		return false
	}
	wait := s.ttl / 4
	if first.over(round, took); s.copy == 2 && s.can.extend {
		first.extend(old, s.ttl) // which may shorten the next owner's lease
		wait = s.ttl + s.ttl/4
	} else {
		first.release(old)
	}
	third.release(third.acquire(s.ttl, wait))
	next.release(fresh)
	first.release(old) // it is told of the loss before it asks again
	return true
}
