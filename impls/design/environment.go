package design

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// An Environment is everything one process of a design may touch. Designs read
// time, randomness, identity and the server's address from here only, so that
// clocks can be skewed and runs replayed.
type Environment struct {
	// Redis says how to reach the server. Use [Environment.Connect].
	Redis *redis.Options
	// Others say how to reach the servers beside it, for designs that lock on several.
	// Use [Environment.ConnectAll].
	Others []*redis.Options
	// Prefix comes before every key the design writes on the server, also before
	// a prefix of the design's own.
	Prefix string
	// Host and PID identify the process, for designs that name owners by them.
	Host string
	PID  int
	// Now is the process's clock, which may be skewed. Sleeps and time-outs run
	// on real (or the bubble's virtual) time.
	Now func() time.Time
	// Random is the process's source of random bytes, safe for concurrent use.
	Random io.Reader
	// Pool is the number of connections the process may open at most; zero
	// leaves the number to the design.
	Pool int
	// Commands counts the requests sent to the server, when not nil.
	Commands *atomic.Int64
	// Clients makes the clients that Connect returns and takes them back from
	// Disconnect; nil is to make new ones and to close them.
	Clients Clients
}

// Connect opens a client with at most pool connections, or Environment.Pool when
// that is set, that never re-sends a command by itself: a silent second try after
// a lost reply would turn one's own grant into a refusal. Close it by Disconnect.
func (e Environment) Connect(pool int) *redis.Client {
	opt := *e.Redis
	opt.MaxRetries = -1
	opt.PoolSize = pool
	if e.Pool > 0 {
		opt.PoolSize = e.Pool
	}
	client := e.open(&opt)
	if e.Commands != nil {
		client.AddHook(commandCounter{e.Commands})
	}
	return client
}

// ConnectAll is Connect for every one of the n servers that a design needs, the
// environment's Redis first. The error says that the environment has not so many.
func (e Environment) ConnectAll(n, pool int) ([]*redis.Client, error) {
	all := append([]*redis.Options{e.Redis}, e.Others...)
	if len(all) < n {
		return nil, fmt.Errorf("environment has %d servers, the design locks on %d; hint: give it %d more", len(all), n, n-len(all))
	}
	var clients []*redis.Client
	for _, opt := range all[:n] {
		at := e
		at.Redis = opt
		clients = append(clients, at.Connect(pool))
	}
	return clients, nil
}

func (e Environment) open(opt *redis.Options) *redis.Client {
	if e.Clients != nil {
		return e.Clients.Open(opt)
	}
	return redis.NewClient(opt)
}

// Sleep waits for d or until ctx ends, and returns ctx's error in that case.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commandCounter counts what a client sends: a pipeline or transaction counts
// each of its commands.
type commandCounter struct{ n *atomic.Int64 }

func (c commandCounter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c commandCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c commandCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(int64(len(cmds)))
		return next(ctx, cmds)
	}
}
