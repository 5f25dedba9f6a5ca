// Package clientpool passes Redis clients from one process to the next, and makes them for a server
// in memory.
package clientpool

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// A Pool passes clients from one process to another, because making one costs more than the whole
// work of some processes. Only one goroutine may use it at a time.
type Pool struct {
	// Broken reports whether the connections of the process that returns a client are of no more
	// use: they were cut or wait for a reply that does not come. The client is closed then. Broken
	// must not be nil.
	Broken func() bool

	idle, inUse []pooled
}

type pooled struct {
	client *redis.Client
	shape  shape
}

// A shape has the options that designs choose. A client serves another process only if these are
// the same.
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

// connect makes sure that a client has a connection: the behaviour of a process must not depend on
// earlier uses of its client. A client gives up its connection when it no longer waits for a reply.
func connect(client *redis.Client) {
	if client.PoolStats().IdleConns == 0 {
		_ = client.Ping(context.Background()) // a first command would find the error too
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
		_ = o.client.Close() // its only error is that it was closed before
	}
	p.idle, p.inUse = nil, nil
}

// poolTimeout is how long a command waits for a free connection: the client library's result from
// its own defaults.
const poolTimeout = 6 * time.Second

// bufferSize is for connections that are made often and carry little, in bytes.
const bufferSize = 1 << 10

// InMemory returns options for a server that dial reaches in memory and in virtual time. Only
// contexts bound the wait for a reply; connections do not age, and one is kept when none is in use.
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

// Quiet disables the log of the client library, which would report every connection broken on
// purpose. It is for the whole program and for good.
func Quiet() { redis.SetLogger(&logging.VoidLogger{}) }
