package mutants

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// connections is how many a process opens at most: more than it has owners and
// renewals under way.
const connections = 64

// process is one process's worth of a lock.
type process struct {
	env onredis.Environment
	parts
	client *redis.Client
	ctx    context.Context // of what happens in the background
	cancel context.CancelFunc

	background sync.WaitGroup

	mu     sync.Mutex
	closed bool
	holds  map[*hold]struct{} // those with timers
	// shared is what a mutant's owners have in common that they should not, by
	// lock key.
	shared sync.Map
}

func open(env onredis.Environment, a parts) *process {
	opt := *env.Redis
	opt.ContextTimeoutEnabled = true // a renewal must not outlast its lease
	env.Redis = &opt
	ctx, cancel := context.WithCancel(context.Background())
	return &process{
		env: env, parts: a, client: env.Connect(connections), ctx: ctx, cancel: cancel,
		holds: map[*hold]struct{}{},
	}
}

// Locker implements design.Process.
func (p *process) Locker(o design.Observer) lockbench.Locker {
	return &owner{process: p, seen: o, held: map[string]*hold{}}
}

// Close implements design.Process. The connections are cut before it waits, since
// a renewal that waits for its reply does not see that its context has ended.
func (p *process) Close() error {
	p.cancel()
	p.mu.Lock()
	p.closed = true
	for h := range p.holds {
		h.stopTimers()
	}
	p.mu.Unlock()
	err := p.env.Disconnect(p.client)
	p.background.Wait()
	return err
}

// begin enters the background, unless the process is closing.
func (p *process) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.background.Add(1)
	}
	return !p.closed
}

func (p *process) register(h *hold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds[h] = struct{}{}
	if p.closed {
		h.stopTimers()
	}
}

func (p *process) forget(h *hold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.holds, h)
}
