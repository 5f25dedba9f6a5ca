package onredis

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// An Environment is what a process of a design on Redis is given.
type Environment struct {
	design.Environment
	// Redis says how to reach the server. Use [Environment.Connect].
	Redis *redis.Options
	// Nodes are addresses of nodes where that is a Redis Cluster, those of Redis first; none where it is one server.
	Nodes []string
	// Others say how to reach the servers beside it, for designs that lock on several.
	// Use [Environment.ConnectAll].
	Others []*redis.Options
	// Clients makes the clients that Connect returns and takes them back from
	// Disconnect; nil is to make new ones and to close them.
	Clients Clients
}

// A Server says how a process reaches one Redis server. It is what
// [design.Environment.Services] holds for designs of [Open].
type Server struct {
	Options *redis.Options
	// Nodes are addresses of nodes of a Redis Cluster, that of Options first; none of one server.
	Nodes []string
	// Clients is that of the [Environment], the same for all servers.
	Clients Clients
}

// Open makes the [design.Design.Open] of a design that stands on Redis. Its error says
// that it was given another service.
func Open(open func(Environment) (design.Process, error)) func(design.Environment) (design.Process, error) {
	return func(general design.Environment) (design.Process, error) {
		env, err := From(general)
		if err != nil {
			return nil, err
		}
		process, err := open(env)
		if err != nil || len(env.Nodes) == 0 {
			return process, err
		}
		return tagged{process}, nil
	}
}

// From is the environment of a design on Redis. Its error says that what the design is given
// are no Redis servers.
func From(general design.Environment) (Environment, error) {
	env := Environment{Environment: general}
	for i, s := range general.Services {
		server, ok := s.(Server)
		switch {
		case !ok:
			return env, fmt.Errorf("service %d of the environment is a %T, no Redis server; hint: give it an onredis.Server", i, s)
		case i == 0:
			env.Redis, env.Nodes, env.Clients = server.Options, server.Nodes, server.Clients
		default:
			env.Others = append(env.Others, server.Options)
		}
	}
	if env.Redis == nil {
		return env, errors.New("environment has no Redis server; hint: give it an onredis.Server")
	}
	return env, nil
}

// General is the environment as [design.Design.Open] takes it.
func (e Environment) General() design.Environment {
	general := e.Environment
	general.Services = []any{Server{e.Redis, e.Nodes, e.Clients}}
	for _, other := range e.Others {
		general.Services = append(general.Services, Server{Options: other, Clients: e.Clients})
	}
	return general
}

// Connect opens a client with at most pool connections, or Environment.Pool when
// that is set, that never sends a command again by itself, unless Redis says how
// often it is to: a silent second try after a lost reply would turn one's own grant into a refusal. Close it by
// Disconnect.
//
// On a Redis Cluster there are as many connections to each node, and a command is sent again where a node answers
// that it did not run it, and names another. Tx and what else needs one connection for several commands is not possible there.
func (e Environment) Connect(pool int) *redis.Client {
	opt := *e.Redis
	if opt.MaxRetries <= 0 {
		opt.MaxRetries = -1
	}
	opt.PoolSize = pool
	if e.Pool > 0 {
		opt.PoolSize = e.Pool
	}
	if len(e.Nodes) > 0 && opt.Dialer == nil {
		opt.Dialer = redis.NewDialer(&opt)
	}
	node := opt
	if len(e.Nodes) > 0 {
		opt.Dialer = anyOf(opt.Dialer, e.Nodes)
	}
	client := e.open(&opt)
	if e.Commands != nil {
		client.AddHook(commandCounter{e.Commands})
	}
	if len(e.Nodes) > 0 {
		behind(client, &node, e.Nodes)
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
		if opt != e.Redis {
			at.Redis, at.Nodes = opt, nil
		}
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

// Disconnect closes a client that Connect returned: the way for a process to close
// its connections, whatever they come from.
func (e Environment) Disconnect(client *redis.Client) error {
	err := leave(client)
	if e.Clients != nil {
		return errors.Join(err, e.Clients.Close(client))
	}
	return errors.Join(err, client.Close())
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
