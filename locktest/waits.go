package locktest

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
)

// awakened is the cell of waiters for a key that becomes free.
var awakened = lockbench.WakeUp.At(0)

// A vigil has the times that the owners of a case wait.
type vigil struct {
	held time.Duration // from the call of the waiter to the release
	most time.Duration // how long the key may be free, until the waiter breaks its guarantee
	room time.Duration // after that, for others to find the key free before the wait is over
}

// vigil returns the times for a lock that promises that its waiters ask every wakes, or promises
// nothing.
func (s *runSettings) vigil() vigil {
	v := vigil{held: min(max(s.ttl/8, 50*time.Millisecond), 10*s.ttl, 250*time.Millisecond), room: time.Second}
	v.most = s.wakes + time.Second + s.tolerance
	if s.wakes == 0 { // most becomes half of the whole wait, held + most + room
		v.most += v.held + v.most + v.room
	}
	return v
}

// wait returns how long the waiter is told to wait.
func (v vigil) wait() time.Duration { return v.held + v.most + v.room }

// awaitRelease lets an owner wait, in the lock's own way, for a key that its holder keeps until the
// wait is over, and for a key that is released during the wait. A third owner tries the key when
// the waiter must have been granted it. If the third owner is granted the key then, and keeps it,
// no other client held it.
func awaitRelease(s *fixture) {
	holder, waiter := s.owners[0], s.owners[1]
	for range s.rounds(4) {
		held := holder.acquire(20*s.ttl, 0)
		if held == nil {
			return
		}
		begun, stood := time.Now(), s.stood()
		waiter.release(waiter.ask(lockbench.Options{TTL: 4 * s.ttl, Wait: s.vigil.held}))
		if time.Since(begun) >= s.vigil.held && s.stood() == stood {
			s.notes.waitedOut()
		}
		begun, waited := time.Now(), make(chan struct{})
		go func() {
			defer close(waited)
			defer s.contain()
			waiter.release(waiter.await())
		}()
		s.sleepUnless(waited, s.vigil.held)
		holder.release(held)
		shown := s.tryUnlessGranted(begun, waited)
		if <-waited; shown {
			return
		}
	}
}

// await waits for the key in the lock's own way, and notes that it was refused before its holder released it.
func (o *owner) await() lockbench.Lease {
	s := o.fixture
	begun, stood := time.Now(), s.stood()
	lease, err := o.client.AcquireWith(s.ctx, lockbench.Options{TTL: s.roundUp(4 * s.ttl), Wait: s.vigil.wait()})
	s.notes.trouble(err)
	s.notes.waited(lease != nil)
	if took := time.Since(begun); lease == nil && err == nil && took < s.vigil.held {
		s.notes.refusedSooner(s.vigil.wait(), took, took < s.vigil.held/2 && s.stood() == stood)
	}
	return lease
}

// tryUnlessGranted tries the key that was just freed, at a time when the waiter must have been
// granted it and its wait is nearly over, and keeps it until the waiter was answered, or its wait
// is long over. It returns true if it was granted the key, and nobody stood still meanwhile:
// another try would not show more.
func (s *fixture) tryUnlessGranted(begun time.Time, waited <-chan struct{}) bool {
	stood := s.stood()
	if !s.sleepUnless(waited, s.vigil.most+7*s.vigil.room/8) {
		return false
	}
	lease := s.owners[2].acquire(20*s.ttl, 0)
	stood -= s.stood()
	s.sleepUnless(waited, time.Until(begun.Add(s.vigil.wait()+s.ttl)))
	s.owners[2].release(lease)
	return lease != nil && stood == 0
}

// sleepUnless waits for d; false means that over was closed before, or the time for the case is over.
func (s *fixture) sleepUnless(over <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-over:
	case <-s.ctx.Done():
	}
	return false
}

// waitless begins the finding on a lock with acquires that do not wait.
const waitless = "the lock does not wait as it is told"

// A hurried refusal came before the wait was over.
type hurried struct{ wait, took time.Duration }

// refusedSooner notes that an acquire was refused a held key before its wait was over. It is hasty
// if it took far less than a full wait, and nobody stood still meanwhile. A lock with two hasty
// refusals after two full waits is wrong: its retry strategy may serve one acquire only and be used
// up, as in redislock.
func (n *notes) refusedSooner(wait, took time.Duration, hasty bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hurried = &hurried{wait, took}
	if !hasty || n.patient < 2 {
		return
	}
	if n.impatient++; n.impatient == 2 {
		n.wrong = append(n.wrong, fmt.Errorf("an acquire of a held key that was to wait for %v was refused after %v, though the lock had waited as it was told %d times; hint: give each acquire a retry strategy of its own",
			wait, took.Round(time.Microsecond), n.patient))
	}
}

// waitedOut notes an acquire that waited for all of its time.
func (n *notes) waitedOut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.patient++
}

// waited notes the end of a wait for a key that is released meanwhile.
func (n *notes) waited(granted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waits++; granted {
		n.woken++
	}
}

// idle says why a case cannot tell how waiters are granted a free key: no key was free, or nobody
// waited. It is empty if the case can tell.
func (n *notes) idle() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.hurried == nil && n.woken > 0 && n.woken == n.waits:
		return "no key was free for a waiter: each was granted it before the release had returned"
	case n.hurried == nil:
		return ""
	}
	return fmt.Sprintf(waitless+": an acquire of a held key that was to wait for %v was refused after %v", n.hurried.wait, n.hurried.took.Round(time.Microsecond))
}
