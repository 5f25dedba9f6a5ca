package load

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// The designs for tests of the driver are as small as possible, so that the tests show the
// driver: one with a token, one that deletes any lock.
func tokenDesign() design.Design { return testDesign("test/token", compareAndDelete) }

func plainDesign() design.Design { return testDesign("test/plain", del) }

func testDesign(name string, release releaser) design.Design {
	return design.Design{
		Name:      name,
		Claims:    lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion}, Survives: lockbench.Survivable},
		Reacquire: design.Refused,
		Commands:  []string{"SET", "EVALSHA"},
		Open: onredis.Open(func(env onredis.Environment) (design.Process, error) {
			return &testProcess{env: env, client: env.Connect(benchClients), release: release}, nil
		}),
	}
}

type releaser func(ctx context.Context, c *redis.Client, key, token string) (bool, error)

var compareScript = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

func compareAndDelete(ctx context.Context, c *redis.Client, key, token string) (bool, error) {
	return compareScript.Run(ctx, c, []string{key}, token).Bool()
}

func del(ctx context.Context, c *redis.Client, key, _ string) (bool, error) {
	return true, c.Del(ctx, key).Err()
}

// paced returns d with every call of its locks lasting for a while before its first command
// and after its last one: in virtual time commands themselves take none, and all would
// happen at once.
func paced(d design.Design, before, after func() time.Duration) design.Design {
	open := d.Open
	d.Open = func(env design.Environment) (design.Process, error) {
		p, err := open(env)
		return &pacedProcess{p, before, after}, err
	}
	return d
}

// slowly is paced, as over a network.
func slowly(d design.Design) design.Design {
	random := rand.New(rand.NewPCG(1, 1))
	var mu sync.Mutex
	travel := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return 20*time.Microsecond + time.Duration(random.Int64N(int64(100*time.Microsecond)))
	}
	return paced(d, travel, travel)
}

type pacedProcess struct {
	design.Process
	before, after func() time.Duration
}

func (p *pacedProcess) Locker(o design.Observer) lockbench.Locker {
	return design.Around(p.Process.Locker(o), func(ctx context.Context) (context.Context, func()) {
		time.Sleep(p.before())
		return ctx, func() { time.Sleep(p.after()) }
	})
}

type testProcess struct {
	env     onredis.Environment
	client  *redis.Client
	release releaser
}

func (p *testProcess) Locker(o design.Observer) lockbench.Locker {
	return &testLocker{process: p, observer: o}
}

func (p *testProcess) Close() error { return p.client.Close() }

type testLocker struct {
	process  *testProcess
	observer design.Observer
}

func (l *testLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	var raw [16]byte
	if _, err := io.ReadFull(l.process.env.Random, raw[:]); err != nil {
		return nil, err
	}
	lease := &testLease{process: l.process, key: l.process.env.Prefix + key, token: hex.EncodeToString(raw[:]), ttl: opt.TTL}
	err := design.Poll(ctx, opt.Wait, design.Every(5*time.Millisecond), func() (bool, error) {
		lease.from = l.observer.Attempt(key)
		ok, err := l.process.client.SetNX(ctx, lease.key, lease.token, opt.TTL).Result()
		return ok, onredis.NoEffect(err)
	})
	if err != nil {
		return nil, fmt.Errorf("acquire: %w", err)
	}
	return lease, nil
}

type testLease struct {
	process    *testProcess
	key, token string
	from       time.Time
	ttl        time.Duration
}

func (l *testLease) Valid() (time.Time, time.Duration) { return l.from, l.ttl }

func (l *testLease) Release(ctx context.Context) error {
	ok, err := l.process.release(ctx, l.process.client, l.key, l.token)
	if err == nil && !ok {
		return lockbench.ErrNotHeld
	}
	return err
}
