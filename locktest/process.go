package locktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

const (
	// connections is the largest number of a process's connections: more than its goroutines.
	connections = 64
	// tryEvery is the pause between the tries of an acquire that may wait. It divides
	// no round lease, so that a try and the end of a lease are two instants.
	tryEvery = 101*time.Millisecond + 1
)

// process is one process with a lock under test.
type process struct {
	t         *testing.T
	newLocker NewLocker
	env       onredis.Environment
	client    *redis.Client

	mu     sync.Mutex
	owners []lockbench.Locker
}

func open(t *testing.T, newLocker NewLocker, env onredis.Environment) *process {
	return &process{t: t, newLocker: newLocker, env: env, client: env.Connect(connections)}
}

// owner makes one more owner.
func (p *process) owner() lockbench.Locker {
	p.mu.Lock()
	n := len(p.owners)
	p.owners = append(p.owners, nil)
	p.mu.Unlock()
	l := p.newLocker(p.t, Env{
		Redis:  p.client,
		Dial:   p.client.Options().Dialer,
		Owner:  p.name(n),
		Now:    p.env.Now,
		Random: p.env.Random,
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners[n] = l
	return l
}

// name returns the name of the n-th owner. In explorations, each begins with the name of the owner
// before.
func (p *process) name(n int) string {
	name := fmt.Sprintf("%s-%d", p.env.Host, p.env.PID)
	if n > 0 {
		name += fmt.Sprintf("-%d", n)
	}
	return name
}

// close implements the Close of [design.Process].
func (p *process) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, l := range p.owners {
		if c, ok := l.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(append(errs, p.env.Disconnect(p.client))...)
}

// waitingLocker makes an owner that waits by single tries, so that the start of the successful try
// is known.
func (p *process) waitingLocker(o design.Observer) lockbench.Locker {
	return waiter{inner: p.owner(), seen: o, pause: tryEvery}
}

// waiter waits by single tries.
type waiter struct {
	inner lockbench.Locker
	seen  design.Observer
	pause time.Duration // between two tries
}

// Acquire implements lockbench.Locker.
func (w waiter) Acquire(ctx context.Context, key string, opt lockbench.Options) (lease lockbench.Lease, err error) {
	once := opt
	once.Wait = 0
	err = design.Poll(ctx, opt.Wait, design.Every(w.pause), func() (bool, error) {
		w.seen.Attempt(key)
		lease, err = w.inner.Acquire(ctx, key, once)
		if errors.Is(err, lockbench.ErrNotAcquired) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// seeded returns a source of random bytes that is safe for concurrent use.
func seeded(seed uint64) io.Reader {
	var key [32]byte
	key[0] = byte(seed)
	return &locked{inner: rand.NewChaCha8(key)}
}

type locked struct {
	mu    sync.Mutex
	inner io.Reader
}

// Read implements io.Reader.
func (l *locked) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inner.Read(b)
}
