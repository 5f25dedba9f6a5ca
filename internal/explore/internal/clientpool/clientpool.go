// Package clientpool keeps Redis clients of one process for the next, and makes them for a server in memory.
package clientpool

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// A Pool gives clients to one process after another: making one costs more than
// what some processes do with it. It is used by one goroutine at a time.
type Pool struct {
	// Broken reports of the process that gives a client back whether its connections
	// are of no more use, having been cut or waiting for a reply that does not come.
	// The client is closed then. It must not be nil.
	Broken func() bool

	idle, inUse []pooled
}

type pooled struct {
	client *redis.Client
	shape  shape
}

// A shape is what designs choose of the options. A client serves another process
// only where these are the same.
type shape struct {
	pool     int
	deadline bool
	database int
	name     string
	retries  int
}

func shapeOf(opt *redis.Options) shape {
	return shape{opt.PoolSize, opt.ContextTimeoutEnabled, opt.DB, opt.ClientName, opt.MaxRetries}
}

// Open implements onredis.Clients.
func (p *Pool) Open(opt *redis.Options) *redis.Client {
	wanted := shapeOf(opt)
	i := slices.IndexFunc(p.idle, func(o pooled) bool { return o.shape == wanted })
	if i < 0 {
		p.idle = append(p.idle, pooled{redis.NewClient(opt), wanted})
		i = len(p.idle) - 1
	}
	o := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	p.inUse = append(p.inUse, o)
	connect(o.client)
	return o.client
}

// connect sees to it that a client has a connection: what happens to a process must
// not depend on whether its client was used before, nor on what for. A client gives
// its connection up when it does not wait for a reply any longer.
func connect(client *redis.Client) {
	if client.PoolStats().IdleConns == 0 {
		_ = client.Ping(context.Background()) // a first command would find out too
	}
}

// Close implements onredis.Clients.
func (p *Pool) Close(client *redis.Client) error {
	i := slices.IndexFunc(p.inUse, func(o pooled) bool { return o.client == client })
	if i < 0 {
		return client.Close()
	}
	o := p.inUse[i]
	p.inUse = slices.Delete(p.inUse, i, i+1)
	if p.Broken() {
		return client.Close()
	}
	p.idle = append(p.idle, o)
	return nil
}

// CloseAll closes every client for good.
func (p *Pool) CloseAll() {
	for _, o := range slices.Concat(p.idle, p.inUse) {
		_ = o.client.Close() // says only that it was closed before
	}
	p.idle, p.inUse = nil, nil
}

// poolTimeout is how long a command waits for a free connection: what the client
// library makes of its own defaults.
const poolTimeout = 6 * time.Second

// bufferSize is for connections that are made often and carry little, in bytes.
const bufferSize = 1 << 10

// InMemory are options for a server that dial reaches in memory and in virtual
// time. A reply may take as long as it likes, so only contexts bound the wait for
// it; connections do not age, and one is kept when none is in use.
func InMemory(dial func() (net.Conn, error)) *redis.Options {
	return &redis.Options{
		Addr:             "127.0.0.1:6379",
		Protocol:         2,
		DisableIdentity:  true,
		DialerRetries:    1,
		ReadTimeout:      -1,
		WriteTimeout:     -1,
		PoolTimeout:      poolTimeout,
		ConnMaxIdleTime:  -1,
		MaxIdleConns:     1,
		PipelinePoolSize: -1,
		ReadBufferSize:   bufferSize,
		WriteBufferSize:  bufferSize,
		Dialer:           func(context.Context, string, string) (net.Conn, error) { return dial() },
	}
}

// Quiet has the client library write no log: where connections are broken on
// purpose it would report each. It is for the whole program and for good.
func Quiet() { redis.SetLogger(&logging.VoidLogger{}) }
