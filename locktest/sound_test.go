package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/locktest"
)

// A sound lock of one token a grant, compared and deleted.
type sound struct {
	redis *redis.Client
	owner string
	take  func(ctx context.Context, c *redis.Client, key, token string, ttl time.Duration) (bool, error)
	n     int
}

var compareAndDelete = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

func (s *sound) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	s.n++
	token := fmt.Sprintf("%s/%d", s.owner, s.n)
	ok, err := s.take(ctx, s.redis, key, token, opt.TTL)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, lockbench.ErrNotAcquired
	}
	return soundLease{s, key, token}, nil
}

type soundLease struct {
	of         *sound
	key, token string
}

func (l soundLease) Release(ctx context.Context) error {
	n, err := compareAndDelete.Run(ctx, l.of.redis, []string{l.key}, l.token).Int()
	if err == nil && n == 0 {
		err = lockbench.ErrNotHeld
	}
	return err
}

var takeOrKeep = redis.NewScript(`if redis.call("set", KEYS[1], ARGV[1], "nx", "px", ARGV[2]) or redis.call("get", KEYS[1]) == ARGV[1] then return 1 end return 0`)

// repeatably takes the key so that a command that is sent again succeeds again.
func repeatably(ctx context.Context, c *redis.Client, key, token string, ttl time.Duration) (bool, error) {
	return takeOrKeep.Run(ctx, c, []string{key}, token, wholeMillis(ttl).Milliseconds()).Bool()
}

// until takes the key with SET NX PXAT; the lock chooses the end of the lease.
func until(end func(ttl time.Duration) int64) func(context.Context, *redis.Client, string, string, time.Duration) (bool, error) {
	return func(ctx context.Context, c *redis.Client, key, token string, ttl time.Duration) (bool, error) {
		err := c.Do(ctx, "set", key, token, "nx", "pxat", end(ttl)).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	}
}

// byTheClock ends the lease by the clock of the machine, not of the environment.
func byTheClock(ttl time.Duration) int64 { return time.Now().Add(ttl).UnixMilli() }

// TestSoundLocksAreNotAccused explores locks that use times or random values outside of the seed's
// control, with several seeds.
func TestSoundLocksAreNotAccused(t *testing.T) {
	for name, newLocker := range map[string]locktest.NewLocker{
		"absolute expiry, a client that never retries": func(_ *testing.T, env locktest.Env) lockbench.Locker {
			return &sound{redis: env.Redis, owner: env.Owner, take: until(byTheClock)}
		},
		"client with retries": func(t *testing.T, env locktest.Env) lockbench.Locker {
			options := *env.Redis.Options()
			options.MaxRetries = 3
			client := redis.NewClient(&options)
			t.Cleanup(func() { _ = client.Close() })
			return &sound{redis: client, owner: env.Owner, take: repeatably}
		},
		"client of its own": func(t *testing.T, env locktest.Env) lockbench.Locker {
			client := redis.NewClient(&redis.Options{Dialer: env.Dial})
			t.Cleanup(func() { _ = client.Close() })
			return &sound{redis: client, owner: env.Owner, take: repeatably}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LOCKBENCH_BUDGET", "2000")
			for seed := range longtest.Times(1, 8) {
				t.Setenv("LOCKBENCH_SEED", strconv.Itoa(seed+1))
				var options []locktest.ExploreOption
				if strings.HasSuffix(name, "never retries") {
					options = append(options, locktest.WithClientRetries(0))
				}
				r, err := locktest.Check(t, newLocker, options...)
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Err(); err != nil {
					t.Errorf("seed %d: %v\n%s", seed+1, err, r)
				}
			}
		})
	}
}

// TestClientRetries checks that SET NX that the client sends again is refused by the key that it
// has set. A client without retries never shows it.
func TestClientRetries(t *testing.T) {
	for _, c := range []struct {
		take    func(context.Context, *redis.Client, string, string, time.Duration) (bool, error)
		retries int
		broken  bool
	}{
		{until(byTheClock), 0, false},
		{until(byTheClock), 3, true},
		{repeatably, 3, false},
	} {
		r, err := locktest.Check(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
			return &sound{redis: env.Redis, owner: env.Owner, take: c.take}
		}, locktest.WithClientRetries(c.retries), locktest.WithSchedules(1500), locktest.WithSeed(2))
		if err != nil {
			t.Fatal(err)
		}
		f := testOf(r, lockbench.Answers.At(lockbench.LostReply))
		if (f.Verdict == checker.Broken) != c.broken || (r.Err() != nil) != c.broken {
			t.Errorf("%d retries: got %v (%v), want broken: %t", c.retries, f.Verdict, r.Err(), c.broken)
		}
	}
}

// TestLeaseUnit checks that a lock that cuts its leases to whole milliseconds is found by Explore
// and by Try, unless it is declared to count in these.
func TestLeaseUnit(t *testing.T) {
	cut := func(ctx context.Context, c *redis.Client, key, token string, ttl time.Duration) (bool, error) {
		return takeOrKeep.Run(ctx, c, []string{key}, token, ttl.Milliseconds()).Bool()
	}
	newLocker := func(_ *testing.T, env locktest.Env) lockbench.Locker {
		return &sound{redis: env.Redis, owner: env.Owner, take: cut}
	}
	for _, c := range []struct {
		options []locktest.ExploreOption
		want    checker.Verdict
	}{
		{nil, checker.Broken},
		{[]locktest.ExploreOption{locktest.WithLeaseUnit(time.Millisecond)}, checker.Held},
	} {
		r, err := locktest.Check(t, newLocker, append(c.options, locktest.WithSchedules(1500))...)
		if err != nil {
			t.Fatal(err)
		}
		if f := testOf(r, lockbench.Exclusion.At(0)); f.Verdict != c.want || (r.Err() != nil) != (c.want == checker.Broken) {
			t.Errorf("%d options: got %v (%v), want %v", len(c.options), f.Verdict, r.Err(), c.want)
		}
	}
}

// TestExploreOptions checks that an option out of its bounds is an error.
func TestExploreOptions(t *testing.T) {
	newLocker := func(_ *testing.T, env locktest.Env) lockbench.Locker {
		return &sound{redis: env.Redis, owner: env.Owner, take: repeatably}
	}
	for want, option := range map[string]locktest.ExploreOption{
		"0 schedules are none; hint: ":        locktest.WithSchedules(0),
		"client that sends commands again 11": locktest.WithClientRetries(11),
		"a budget of -1s is no time":          locktest.WithBudget(-time.Second),
		"a unit of leases of 1m0s is more":    locktest.WithLeaseUnit(time.Minute),
	} {
		if _, err := locktest.Check(t, newLocker, option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}

// prefixed is a lock that uses its owner's name as token, and releases with a script that compares
// it.
type prefixed struct {
	redis   *redis.Client
	owner   string
	release *redis.Script
}

func (p prefixed) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	ok, err := repeatably(ctx, p.redis, key, p.owner, opt.TTL)
	if err == nil && !ok {
		err = lockbench.ErrNotAcquired
	}
	if err != nil {
		return nil, err
	}
	return release(func(ctx context.Context) error {
		n, err := p.release.Run(ctx, p.redis, []string{key}, p.owner).Int()
		if err == nil && n == 0 {
			err = lockbench.ErrNotHeld
		}
		return err
	}), nil
}

var comparePrefix = redis.NewScript(`if string.sub(redis.call("get", KEYS[1]) or "", 1, #ARGV[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

// TestPrefixesOfOwners checks that an owner that compares a key's value only up to the length of
// its own name frees the key of another owner with a longer name. With a full comparison, the same
// tokens are safe.
func TestPrefixesOfOwners(t *testing.T) {
	t.Setenv("LOCKBENCH_BUDGET", "1500")
	for _, c := range []struct {
		release *redis.Script
		want    checker.Verdict
	}{{comparePrefix, checker.Broken}, {compareAndDelete, checker.Held}} {
		r, err := locktest.Check(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
			return prefixed{env.Redis, env.Owner, c.release}
		})
		if err != nil {
			t.Fatal(err)
		}
		if f := testOf(r, lockbench.OwnerRelease.At(lockbench.Outlived)); f.Verdict != c.want {
			t.Errorf("got %v (%s), want %v", f.Verdict, f.Note, c.want)
		}
	}
}

// TestLeasesThatNeverEnd explores a lock that mistakes the unit of an expiry: its keys last
// beyond the clocks of virtual time.
func TestLeasesThatNeverEnd(t *testing.T) {
	t.Setenv("LOCKBENCH_BUDGET", "2000")
	r, err := locktest.Check(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
		return &sound{redis: env.Redis, owner: env.Owner, take: until(func(ttl time.Duration) int64 { return time.Now().Add(ttl).UnixMicro() })}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Defects) > 0 {
		t.Errorf("defects: %q", r.Defects)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "was refused the key") {
		t.Errorf("got %v, want that a key of a dead owner stays", err)
	}
}

// An acquire is a lock that is one function.
type acquire func(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error)

func (f acquire) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	return f(ctx, key, opt)
}

// A release is a lease that is one function.
type release func(context.Context) error

func (f release) Release(ctx context.Context) error { return f(ctx) }

// TestFirstLook checks that the fault of an adapter is reported before anything is explored.
func TestFirstLook(t *testing.T) {
	type table = map[string]struct {
		acquire func(env locktest.Env, inner lockbench.Locker) acquire
		want    string
	}
	for name, c := range (table{
		"a refusal is a failure": {func(_ locktest.Env, inner lockbench.Locker) acquire {
			return func(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
				lease, err := inner.Acquire(ctx, key, opt)
				if errors.Is(err, lockbench.ErrNotAcquired) {
					return nil, errors.New("taken")
				}
				return lease, err
			}
		}, "acquire a key that another owner holds: taken; hint: return an error that wraps lockbench.ErrNotAcquired"},
		"another server": {func(locktest.Env, lockbench.Locker) acquire {
			return func(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
				return release(func(context.Context) error { return nil }), nil
			}
		}, "sent nothing to the server of its environment; hint: connect by Env.Redis"},
		"no lease": {func(locktest.Env, lockbench.Locker) acquire {
			return func(context.Context, string, lockbench.Options) (lockbench.Lease, error) { return nil, nil }
		}, "neither a lease nor an error"},
		"a command that the server lacks": {func(env locktest.Env, inner lockbench.Locker) acquire {
			return func(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
				if err := env.Redis.Do(ctx, "client", "tracking", "on").Err(); err != nil {
					return nil, err
				}
				return inner.Acquire(ctx, key, opt)
			}
		}, "unknown subcommand 'TRACKING'"},
	}) {
		t.Run(name, func(t *testing.T) {
			_, err := locktest.Check(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
				return c.acquire(env, &sound{redis: env.Redis, owner: env.Owner, take: repeatably})
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

// TestLackingCommandsProveNothing explores a lock that tries a command which the server lacks
// after its first acquire, and fails with it.
func TestLackingCommandsProveNothing(t *testing.T) {
	t.Setenv("LOCKBENCH_BUDGET", "400")
	var all atomic.Int64
	r, err := locktest.Check(t, func(_ *testing.T, env locktest.Env) lockbench.Locker {
		inner := &sound{redis: env.Redis, owner: env.Owner, take: repeatably}
		return acquire(func(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
			if all.Add(1) > 50 {
				if err := env.Redis.Do(ctx, "digest", key).Err(); err != nil {
					return nil, err
				}
			}
			return inner.Acquire(ctx, key, opt)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Errorf("accused: %v", err)
	}
	if !strings.Contains(r.String(), "the server has no DIGEST") {
		t.Errorf("the command is not named:\n%s", r)
	}
}
