package rueidislock

import (
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/impls/internal/batching"
)

type (
	lease  = time.Duration // of the Locker: all its locks have this lease
	locker = rueidislock.Locker
)

// A process keeps one of the library's Lockers for each lease.
type process struct {
	env onredis.Environment
	// road is used only for dialling, so that faults of connections affect the library's, too.
	road     *redis.Client
	mode     mode
	patience time.Duration

	mu      sync.Mutex
	lockers map[lease]locker

	values sync.Map // from the value of a try to its *hold
}

// Locker implements design.Process.
func (p *process) Locker(seen design.Observer) lockbench.Locker { return &owner{p, seen} }

// Close implements design.Process.
func (p *process) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lockers {
		l.Close()
	}
	clear(p.lockers)
	return p.env.Disconnect(p.road)
}

// locker returns the process's Locker for leases of that length, which connects at its first
// use.
func (p *process) locker(ttl lease) (locker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.lockers[ttl]; ok {
		return l, nil
	}
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		KeyPrefix:      p.env.Prefix + "lock",
		KeyValidity:    ttl,
		TryNextAfter:   p.patience,
		KeyMajority:    majority,
		NoLoopTracking: p.mode == noloop,
		ClientBuilder: func(o rueidis.ClientOption) (rueidis.Client, error) {
			inner, err := batching.New(p.env, o)
			if err != nil {
				return nil, err
			}
			return client{inner, p}, nil
		},
		ClientOption: p.options(),
	})
	if err != nil {
		return nil, onredis.NoEffect(err)
	}
	p.lockers[ttl] = l
	return l, nil
}

// options are the library's options for connecting to the server, and for reports of changed
// keys.
func (p *process) options() rueidis.ClientOption {
	opt := batching.Options(p.road)
	opt.DisableCache, opt.AlwaysRESP2 = p.mode == polling, p.mode == polling
	return opt
}
