package mutants

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// connections is the maximum number of connections of a process, more than its owners and its
// concurrent renewals need.
const connections = 64

// A process is the state of a lock in one process.
type process struct {
	env onredis.Environment
	parts
	client *redis.Client
	ctx    context.Context // for work in the background
	cancel context.CancelFunc

	background sync.WaitGroup

	mu     sync.Mutex
	closed bool
	holds  map[*hold]struct{} // holds with timers
	// shared is state that a mutant's owners wrongly share, by lock key.
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

// Close implements design.Process. It cuts the connections before it waits,
// because a renewal that waits for its reply does not notice the end of its
// context.
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

// begin begins background work, and returns false if the process is closing.
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
