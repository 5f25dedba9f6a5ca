package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/locktest/internal/guard"
	"github.com/lockbench/lockbench/workloads"
)

// abilities are the abilities that a lock showed.
type abilities struct {
	extend, fence, delay, validity bool
	renews                         bool // its leases outlast their TTL
	session                        bool // it has no lease: a hold lasts as long as its owner's session
	waits                          bool // as it is told, by itself; known only of explored locks
	anyKey                         bool // it takes keys of any name; known only of explored locks
	reacquire                      design.Reacquire
	unit                           time.Duration // its leases are declared to be multiples of it; zero is any
}

// lasts reports whether a hold lasts as long as its owner lives.
func (a abilities) lasts() bool { return a.renews || a.session }

// lacks says why cell does not apply to a lock with these abilities, empty if it does.
func (a abilities) lacks(cell lockbench.Cell) string {
	switch g := cell.Guarantee; {
	case g == lockbench.Fencing && !a.fence:
		return "the lock's leases have no fences: they are no lockbench.Fencer"
	case g == lockbench.ReleaseDelay && !a.delay:
		return "the lock's leases cannot be released with a delay: they are no lockbench.DelayedReleaser"
	case g == lockbench.Reentrancy && a.reacquire != design.Nested:
		return "a second acquire by the holder does not count: it is " + string(a.reacquire)
	case g == lockbench.LeaseKept && a.session:
		return "the lock has no lease: what it grants lasts as long as its owner's session"
	case cell.Under.Has(lockbench.Failover):
		return "one server cannot fail over"
	case cell.Under.Has(lockbench.ThreadDeath):
		return "every owner has a process of its own, and dies with it"
	}
	return ""
}

// promised returns the guarantees that leases with these abilities promise.
func (a abilities) promised() (all []lockbench.Guarantee) {
	if a.fence {
		all = append(all, lockbench.Fencing)
	}
	if a.delay {
		all = append(all, lockbench.ReleaseDelay)
	}
	return all
}

// can reports whether the lock has the abilities that p needs.
func (a abilities) can(p workloads.Program) bool {
	has := map[workloads.Ability]bool{
		workloads.Extends: a.extend, workloads.Delays: a.delay, workloads.Nests: a.reacquire != design.Refused, workloads.HasStore: true,
		workloads.Renews: a.renews, workloads.AnyLease: a.unit == 0, workloads.AnyKey: a.anyKey,
	}
	return !slices.ContainsFunc(p.Needs, func(need workloads.Ability) bool { return !has[need] })
}

// probe finds out the abilities of the lock, in a bubble of its own with a server without
// faults.
func probe(t *testing.T, newLocker NewLocker) (a abilities, err error) {
	t.Helper()
	explore.BeforeBubbles()
	var dialed atomic.Bool
	left := bubble.Enter(t, func(t *testing.T) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("the lock panicked on an idle server, %s: %v", bubble.Panicked(), p)
			}
		}()
		server := miniredis.NewMiniRedis()
		defer server.Close()
		server.ClockTTL(true)
		p := open(t, newLocker, onredis.Environment{
			Redis: &redis.Options{
				Addr: "127.0.0.1:1", Protocol: 2, DisableIdentity: true, // an address of numbers needs no look-up
				Dialer: func(context.Context, string, string) (net.Conn, error) {
					dialed.Store(true)
					return server.Dial()
				},
			},
			Environment: design.Environment{Host: "probe", PID: 1, Now: time.Now, Random: seeded(0)},
		})
		defer p.close()
		if a, err = look(t.Context(), p.owner(), p.owner(), "probe"); err == nil {
			err = refused(t.Context(), p.owner(), p.owner())
		}
		switch {
		case err == nil && !dialed.Load():
			err = errors.New("the lock granted a key and sent nothing to the server of its environment; hint: connect by Env.Redis or Env.Dial, for each owner")
		case err == nil:
			a.renews, a.waits, a.anyKey = renews(t.Context(), p), waits(t.Context(), p), takesAnyKey(t.Context(), p.owner())
		case strings.Contains(err.Error(), "ERR unknown "):
			err = fmt.Errorf("%w that the lock needs: %w; hint: do without it where Env.Redis is given, or test the lock with Run, on a server", errLacking, err)
		case errors.Is(err, errUnreached):
			err = fmt.Errorf("on an idle server: %w; hint: connect by Env.Redis or Env.Dial, and do not wait when Options.Wait is zero", err)
		}
	})
	if left != nil {
		err = errors.Join(err, fmt.Errorf("on an idle server: %w; hint: %s", left, endAll))
	}
	return a, err
}

// endAll is the hint for a lock that leaves goroutines behind.
const endAll = "have Close of the Locker, or t.Cleanup, end what newLocker and the lock's calls begin"

// errLacking is the error of a lock that needs a command that the server of an exploration
// lacks.
var errLacking = errors.New("the server of an exploration lacks a command")

// errUnreached is the error of a free key that cannot be acquired.
var errUnreached = errors.New("acquire a free key")

// look finds out the abilities of a lock through two owners, on a key that nobody else uses.
func look(ctx context.Context, first, second lockbench.Locker, key string) (a abilities, err error) {
	opt := lockbench.Options{TTL: time.Minute}
	lease, err := first.Acquire(ctx, key, opt)
	if err == nil && lease == nil {
		err = guard.ErrNoLease
	}
	if err != nil {
		return a, fmt.Errorf("%w: %w", errUnreached, err)
	}
	_, a.extend = lockbench.Ability[lockbench.Extender](lease)
	_, a.fence = lockbench.Ability[lockbench.Fencer](lease)
	_, a.delay = lockbench.Ability[lockbench.DelayedReleaser](lease)
	_, a.validity = lockbench.Ability[lockbench.Validator](lease)
	a.reacquire = design.Refused
	again, err := first.Acquire(ctx, key, opt)
	if err != nil || again == nil {
		return a, release(ctx, lease)
	}
	if err := release(ctx, again); err != nil {
		return a, err
	}
	a.reacquire = design.Nested
	if other, err := second.Acquire(ctx, key, opt); err == nil && other != nil {
		a.reacquire = design.Refreshed
		lease = other
	}
	return a, release(ctx, lease)
}

// takesAnyKey reports whether the lock accepts all names that programs use for keys.
func takesAnyKey(ctx context.Context, owner lockbench.Locker) bool {
	for _, p := range workloads.By(workloads.Explored) {
		for _, key := range p.KeyNames {
			lease, err := owner.Acquire(ctx, key, lockbench.Options{TTL: time.Minute})
			if err != nil && !errors.Is(err, lockbench.ErrNotAcquired) {
				return false
			}
			if lease != nil {
				_ = lease.Release(ctx)
			}
		}
	}
	return true
}

// refused lets one owner ask for a key that another holds. It returns an error if the refusal does
// not wrap ErrNotAcquired. A grant is no error here: the tests judge it.
func refused(ctx context.Context, first, second lockbench.Locker) error {
	const key = "probe of refusal"
	opt := lockbench.Options{TTL: time.Minute}
	held, err := first.Acquire(ctx, key, opt)
	if err != nil || held == nil {
		return nil // exploring will tell
	}
	other, err := second.Acquire(ctx, key, opt)
	for _, lease := range []lockbench.Lease{other, held} {
		if lease != nil {
			_ = lease.Release(ctx)
		}
	}
	if err != nil && !errors.Is(err, lockbench.ErrNotAcquired) {
		return unwrapped(err)
	}
	return nil
}

// unwrapped returns the error of a refusal that looks like a failure.
func unwrapped(err error) error {
	return fmt.Errorf("acquire a key that another owner holds: %w; hint: return an error that wraps lockbench.ErrNotAcquired", err)
}

// renews reports whether a hold outlasts its lease, without any action on it.
func renews(ctx context.Context, p *process) bool {
	const key = "probe of renewal"
	opt := lockbench.Options{TTL: time.Minute}
	lease, err := p.owner().Acquire(ctx, key, opt)
	if err != nil || lease == nil {
		return false // exploring will tell
	}
	time.Sleep(3 * opt.TTL)
	other, err := p.owner().Acquire(ctx, key, opt)
	for _, l := range []lockbench.Lease{other, lease} {
		if l != nil {
			_ = l.Release(ctx) // either hold may be lost
		}
	}
	return errors.Is(err, lockbench.ErrNotAcquired)
}

// waits reports whether an acquire of a held key takes about as long as it was told to wait.
func waits(ctx context.Context, p *process) bool {
	const key, wait = "probe of waiting", 2 * time.Second
	opt := lockbench.Options{TTL: time.Minute}
	held, err := p.owner().Acquire(ctx, key, opt)
	if err != nil || held == nil {
		return false // exploring will tell
	}
	ctx, cancel := context.WithTimeout(ctx, 2*wait)
	defer cancel()
	opt.Wait = wait
	begun := time.Now()
	other, _ := p.owner().Acquire(ctx, key, opt)
	took := time.Since(begun)
	for _, l := range []lockbench.Lease{other, held} {
		if l != nil {
			_ = l.Release(context.WithoutCancel(ctx)) // either hold may be lost
		}
	}
	return took >= wait/2
}

func release(ctx context.Context, lease lockbench.Lease) error {
	if err := lease.Release(ctx); err != nil {
		return fmt.Errorf("release a lock just acquired: %w", err)
	}
	return nil
}
