package locktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/drive/standstill"
	"github.com/lockbench/lockbench/locktest/internal/guard"
)

// looks is the number of holds that have to end with their leases, while the machine does not stand
// still, for the lock to count as one that does not renew. mostLooks is the largest number of
// looks.
const (
	looks     = 2
	mostLooks = 8
)

// An observation is the end of a hold that its owner neither extends nor releases.
type observation int

const (
	ended    observation = iota // with its lease: another owner was granted the key
	outlived                    // longer than any lease may last: a try called after that was refused
	unclear                     // the machine stood still, so that a renewal may have come too late
	late                        // a call of the lock took too long or failed, though the machine did not stand still
)

// looked counts looks by what they showed.
type looked struct{ all, ended, unclear, outlived int }

// lookWhetherItRenews finds out whether holds outlast their leases, from looks without a
// standstill. If there are too few of them, the declaration decides. Without a declaration either,
// holds count as renewed, which accuses nobody, and the cells that depend on the answer stay
// untested.
func (r *trial) lookWhetherItRenews(ctx context.Context, first, second lockbench.Locker, key string) error {
	seen, err := r.observe(ctx, first, second, key)
	over, lasts := seen.ended, seen.outlived > 0
	declared := r.settings.renews || r.settings.session
	r.starved, r.hung, r.abilities.session = "", false, r.settings.session
	r.abilities.renews = !r.settings.session && (lasts || over < looks)
	switch {
	case err != nil:
		return err
	case declared && over >= looks:
		return r.misdeclared()
	case !lasts && over < looks && !declared:
		r.hung = r.spent()
		r.starved = r.undecided(seen) + ", so that nobody knows whether the lock renews its leases"
	}
	return nil
}

// undecided says why too few looks decided.
func (r *trial) undecided(seen looked) string {
	var why []string
	if seen.unclear > 0 {
		why = append(why, fmt.Sprintf("the machine stood still in %d of %d looks", seen.unclear, seen.all))
	}
	if slow := seen.all - seen.ended - seen.unclear; slow > 0 {
		why = append(why, fmt.Sprintf("a call of the lock failed, or took longer than %v, in %d of %d looks", r.settings.lookBound(), slow, seen.all))
	}
	if r.spent() {
		why = append(why, "a call of the lock did not return")
	}
	return strings.Join(why, ", ")
}

// errMisdeclared says that the lock contradicts its declaration, in looks without a standstill.
var errMisdeclared = errors.New("the lock is declared")

// misdeclared returns the error of a lock with holds that end with their leases, against its
// declaration.
func (r *trial) misdeclared() error {
	as, option := "to renew its leases", "WithRenewal"
	if r.settings.session {
		as, option = "to grant for as long as its owner's session", "WithSession"
	}
	return fmt.Errorf("%w %s, but %d of %d holds ended with their lease of %v while the machine did not stand still; hint: leave %s away, or have the lock do so", errMisdeclared, as, looks, looks, r.settings.ttl, option)
}

// observe looks until it knows whether holds outlast their leases, or has looked often enough. One
// hold that ended with its lease counts as enough of them if the lock can no longer be called, a
// fault that the cases report. The error is of the first look.
func (r *trial) observe(ctx context.Context, first, second lockbench.Locker, key string) (seen looked, _ error) {
	for n := range mostLooks {
		end, err := r.outlasts(ctx, first, second, fmt.Sprintf("%s-renewed-%d", key, n))
		if err != nil && n == 0 {
			return seen, err
		}
		seen.all++
		switch {
		case err != nil:
		case end == ended:
			seen.ended++
		case end == unclear:
			seen.unclear++
		case end == outlived:
			seen.outlived++
		}
		if seen.ended > 0 && r.spent() {
			seen.ended = looks
		}
		if seen.outlived > 0 || seen.ended >= looks || r.spent() || ctx.Err() != nil {
			break
		}
	}
	return seen, nil
}

// spent reports whether one of the observed owners can no longer be called.
func (r *trial) spent() bool {
	return slices.ContainsFunc(r.guards, (*guard.Guard).Spent)
}

// outlasts observes whether a hold lasts longer than its lease, without any action on it.
func (r *trial) outlasts(ctx context.Context, first, second lockbench.Locker, key string) (observation, error) {
	s := r.settings
	watcher := standstill.Start(standstill.Config{Bound: s.lookBound(), Clock: s.clock})
	defer watcher.Stop()
	held, err := first.Acquire(ctx, key, lockbench.Options{TTL: s.ttl})
	if err != nil {
		return ended, fmt.Errorf("%w with a lease of %v: %w; hint: ask for one that the lock grants, WithTTL or %s", errUnreached, s.ttl, err, ttlVariable)
	}
	got := r.obtain(ctx, second, key)
	stood := watcher.Stop()
	r.looksStood += stood.For
	for _, lease := range []lockbench.Lease{got.lease, held} {
		if lease != nil {
			_ = lease.Release(ctx) // either hold may be lost
		}
	}
	switch {
	case got.failed != nil && !errors.Is(got.failed, lockbench.ErrNotAcquired):
		return ended, unwrapped(got.failed)
	case got.lease == nil && errors.Is(got.last, lockbench.ErrNotAcquired):
		return outlived, nil
	case stood.Times > 0:
		return unclear, nil
	case got.lease == nil || got.slowest > s.lookBound():
		return late, nil
	}
	return ended, nil
}

// lookBound is the longest standstill allowed within a look: a lock that renews has at least a
// third of a lease to spare.
func (s *runSettings) lookBound() time.Duration { return lookBound(s.ttl) }

func lookBound(ttl time.Duration) time.Duration { return max(ttl/8, time.Millisecond) }

// obtained is the outcome of trying for a key.
type obtained struct {
	lease   lockbench.Lease // nil if it was not granted
	slowest time.Duration   // of all tries
	failed  error           // the error of a failed try: ErrNotAcquired, if any try returned it
	last    error           // the error of the last try
}

// obtain tries until key is granted, or until a try after the end of every lease has failed.
func (r *trial) obtain(ctx context.Context, l lockbench.Locker, key string) (o obtained) {
	s := r.settings
	over := time.Now().Add(s.ttl + s.ttl/2 + time.Second + s.tolerance)
	pace := time.NewTicker(max(s.ttl/50, time.Millisecond))
	defer pace.Stop()
	for {
		called := time.Now()
		o.lease, o.last = l.Acquire(ctx, key, lockbench.Options{TTL: s.ttl})
		o.slowest = max(o.slowest, time.Since(called))
		if o.last == nil {
			return o
		}
		o.lease = nil
		if !errors.Is(o.failed, lockbench.ErrNotAcquired) {
			o.failed = o.last
		}
		if ctx.Err() != nil || !called.Before(over) {
			return o
		}
		<-pace.C
	}
}

// holdRenewed lets an owner hold the key for three leases, which the lock renews, while another
// tries it all the time, or waits for it: some locks learn only by waiting that an owner is dead. A
// third one shows on a key of its own whether the server stands still. On half of the keys the owner
// holds another key for half a lease, too, which must not end the renewals of the first.
func holdRenewed(s *fixture) {
	first, second := s.owners[0], s.owners[1]
	held := first.acquire(s.ttl, 0)
	if held == nil {
		return
	}
	ask := second.acquire
	if s.copy%2 == 1 {
		ask = second.wait
	}
	released := func() {}
	if s.copy >= 2 {
		released = s.holdBriefly(first)
	}
	watcher := s.watchRenewals(s.owners[2])
	fresh := ask(4*s.ttl, 3*s.ttl)
	if stood := watcher.Stop(); fresh != nil && stood.Times == 0 {
		s.notes.ended()
	}
	released() // a lock is used by one goroutine at a time
	first.release(held)
	second.release(fresh)
}

// holdBriefly lets an owner hold another key for half a lease. The returned function waits for the
// release.
func (s *fixture) holdBriefly(o *owner) (released func()) {
	lease, err := o.guard.Acquire(s.ctx, s.key+"/beside", lockbench.Options{TTL: s.ttl})
	if err != nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.sleep(s.ttl / 2)
		s.notes.trouble(lease.Release(s.ctx))
	}()
	return func() { <-done }
}

// watchRenewals watches for standstills that may keep a hold of the fixture from being renewed. The
// control owner acquires a key of its own and releases it, again and again: if that takes too long,
// the server stands still.
func (s *fixture) watchRenewals(control *owner) *standstill.Watcher {
	key := s.key + "/control"
	acquire := func(ctx context.Context) error {
		lease, err := control.guard.Acquire(ctx, key, lockbench.Options{TTL: s.ttl})
		if err == nil {
			err = lease.Release(ctx)
		}
		return err
	}
	return standstill.Start(standstill.Config{Bound: lookBound(s.ttl), Ask: append(slices.Clone(s.servers), acquire)})
}

// ended notes that a hold ended although it was to be renewed, and nobody stood still.
func (n *notes) ended() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lapses++
}

// doubtful returns the reason why a hold that ended by itself proves nothing against a lock that is
// declared to renew, in the case that watches for that. It is empty if the hold proves something, or
// if no hold ended so.
func (s *caseRun) doubtful() string {
	if !s.broke || s.test.cell != outlasting || !s.trial.settings.renews || s.notes.lapses >= looks {
		return ""
	}
	switch {
	case s.notes.lapses > 0:
		return "one hold ended although it was to be renewed, and no second one while nobody stood still"
	case s.result.Cells()[outlasting].Verdict == checker.Broken:
		return "a hold ended although it was to be renewed, and the machine or the server stood still for an eighth of a lease meanwhile"
	}
	return ""
}

// doubtOthers takes back the verdicts on holds of a lock that is declared to renew, in the cases that
// do not watch the server meanwhile, if standstills may have delayed renewals.
func (r *trial) doubtOthers() {
	for _, sh := range r.runs {
		if r.settings.renews && sh.test.cell != outlasting && r.hindered(sh.stood) {
			sh.doubt("a hold ended although it was to be renewed, and the machine or the server stood still in this test")
		}
	}
}

// doubt takes back the verdicts on holds past their leases, unless why is empty.
func (s *caseRun) doubt(why string) {
	if why == "" {
		return
	}
	for i, f := range s.result.Findings {
		if f.Cell.Guarantee == lockbench.Exclusion && f.Cell.Under.Has(lockbench.Outlived) {
			s.result.Findings[i].Finding = checker.Finding{Verdict: checker.Untested, Note: why, Claimed: f.Claimed, Exercised: f.Exercised}
		}
	}
}
