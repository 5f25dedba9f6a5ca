package onredis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

// An Environment is the environment of a process of a design on Redis.
type Environment struct {
	design.Environment
	// Redis are the options for connecting to the server. Use [Environment.Connect].
	Redis *redis.Options
	// Nodes are addresses of nodes if the server is a Redis Cluster, the address in Redis first;
	// none for one server.
	Nodes []string
	// Others are the options for further servers, for designs that lock on several. Use
	// [Environment.ConnectAll].
	Others []*redis.Options
	// Clients makes the clients for Connect and takes them back from Disconnect; if it is nil,
	// Connect makes new ones and Disconnect closes them.
	Clients Clients
}

// A Server describes the connection of a process to one Redis server. It is the type of
// [design.Environment.Services] for designs of [Open].
type Server struct {
	Options *redis.Options
	// Nodes are addresses of nodes of a Redis Cluster, the address in Options first; none for one
	// server.
	Nodes []string
	// Clients is as in [Environment], the same for all servers.
	Clients Clients
}

var (
	_ design.Addressed = Server{}
	_ design.Dialed    = Server{}
)

// DialServer implements [design.Addressed], with the TLS of the options.
func (s Server) DialServer(ctx context.Context) (net.Conn, error) {
	return s.dial()(ctx, s.Options.Network, s.Options.Addr)
}

// Dialing implements [design.Dialed].
func (s Server) Dialing(wrap func(design.Dial) design.Dial) any {
	opt := *s.Options
	opt.Dialer = wrap(s.dial())
	s.Options = &opt
	return s
}

func (s Server) dial() design.Dial {
	if s.Options.Dialer != nil {
		return s.Options.Dialer
	}
	return redis.NewDialer(s.Options)
}

// URL implements [design.Addressed].
func (s Server) URL(via string) string {
	u := url.URL{Scheme: "redis", Host: via, Path: fmt.Sprintf("/%d", s.Options.DB)}
	if s.Options.Username != "" || s.Options.Password != "" {
		u.User = url.UserPassword(s.Options.Username, s.Options.Password)
	}
	return u.String()
}

// OfConnection reports whether client libraries send a command, by its name in lower case, to open or to
// check a connection. Locks do not send such commands.
func OfConnection(command string) bool {
	switch command {
	case "hello", "client", "select", "auth", "ping", "readonly", "info", "command":
		return true
	}
	return false
}

// Open returns the [design.Design.Open] of a design on Redis. That function returns an error if the
// service is not Redis.
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

// From returns the environment of a design on Redis. It returns an error if the services are not
// Redis servers.
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

// General returns the environment in the form for [design.Design.Open].
func (e Environment) General() design.Environment {
	general := e.Environment
	general.Services = []any{Server{e.Redis, e.Nodes, e.Clients}}
	for _, other := range e.Others {
		general.Services = append(general.Services, Server{Options: other, Clients: e.Clients})
	}
	return general
}

// Connect opens a client with at most pool connections, or Environment.Pool if that is set. It
// never sends a command again by itself, unless Redis sets a number of retries: a silent second try
// after a lost reply would turn a client's own grant into a refusal. Close it by Disconnect.
//
// On a Redis Cluster the client has as many connections to each node, and it sends a command again
// if a node answers that it did not run it, and names another node. Tx, and other uses of one
// connection for several commands, are not possible there.
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

// ConnectAll is like Connect for each of the n servers that a design needs, the environment's Redis
// first. It returns an error if the environment has fewer servers.
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

// Disconnect closes a client that Connect returned. A process must close its connections only by
// it, because they may belong to Clients.
func (e Environment) Disconnect(client *redis.Client) error {
	err := leave(client)
	if e.Clients != nil {
		return errors.Join(err, e.Clients.Close(client))
	}
	return errors.Join(err, client.Close())
}

// commandCounter counts the commands of a client; a pipeline or transaction counts each of its
// commands.
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
