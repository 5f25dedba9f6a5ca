package hashreentrant

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// notifyPool bounds the connections of a process of notify, besides the one that listens. Nobody
// keeps one while it sleeps.
const notifyPool = 64

// notify is our repaired version of the documented lock. It claims the guarantees of a lease lock
// on one server. exclusion@outlived, because each hold renews itself a third of its lease apart,
// through errors, for as long as its owner can reach it. recovery@crash and recovery@cancel,
// because only a hold that was reported to its owner is renewed, so a hold left by a crashed
// process, a lost reply or a cancelled acquire ends with its lease. Not recovery@thread-death: the
// hold of a thread that died in a live process stays as long as its lease can be reached.
// lease@lost-reply, because requests name the hold and its depth, so that a repeated or late one
// changes nothing.
func notify() design.Design {
	return design.Design{
		Name:      "hash-reentrant/notify",
		Summary:   "watchdog repaired: renewal by hold, a third of the lease apart; a release wakes the waiters",
		Source:    "ours, after Study notes: a Redis distributed lock by Lua",
		Claims:    lockbench.LeaseClaims(lockbench.Reentrancy).Renewing().But(orphaned()),
		Reacquire: design.Nested,
		Renews:    true,
		Granted:   design.WholeMillis,
		Commands:  append([]string{"HGET", "PUBLISH", "SUBSCRIBE", "UNSUBSCRIBE"}, scriptCommands...),
		Open:      onredis.Open(openNotify),
	}
}

// notifyProcess is the state that the threads of a process share: the pool, one connection that
// listens, and the holds that are being renewed.
type notifyProcess struct {
	env      onredis.Environment
	prefix   string
	client   *redis.Client
	owners   owners
	listener *listener

	// ctx ends with Close; background counts the work beside the callers.
	ctx        context.Context
	cancel     context.CancelFunc
	background sync.WaitGroup

	mu     sync.Mutex
	closed bool
	holds  map[*hold]struct{} // one per key and owner
}

func openNotify(env onredis.Environment) (design.Process, error) {
	owners, err := newOwners(env)
	if err != nil {
		return nil, err
	}
	opt := *env.Redis
	opt.ContextTimeoutEnabled = true // a renewal must not outlast its lease, nor an acquire its caller
	env.Redis = &opt
	if env.Pool > 1 {
		env.Pool-- // for the connection that listens
	}
	p := &notifyProcess{
		env:    env,
		prefix: env.Prefix + ownPrefix,
		client: env.Connect(notifyPool),
		owners: owners,
		holds:  map[*hold]struct{}{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.listener = newListener(p, env.Commands)
	return p, nil
}

// Locker implements design.Process. Each locker is an owner of its own.
func (p *notifyProcess) Locker(o design.Observer) lockbench.Locker {
	return &notifyLocker{process: p, owner: p.owners.next(), observer: o, holds: map[string]*hold{}}
}

// Close implements design.Process.
func (p *notifyProcess) Close() error {
	p.mu.Lock()
	p.closed = true
	for h := range p.holds {
		h.stopTimers()
	}
	p.mu.Unlock()
	p.cancel()
	p.listener.close()
	err := p.env.Disconnect(p.client) // ends pending commands
	p.background.Wait()
	return err
}

// begin reports whether background work may start; after true the caller must call
// p.background.Done at its end.
func (p *notifyProcess) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.background.Add(1)
	}
	return !p.closed
}
