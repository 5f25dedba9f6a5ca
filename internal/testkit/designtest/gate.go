package designtest

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design/onredis"
)

// A Gate sees every command that an environment's clients send, before it leaves.
// Each order to it is for one command: the next one with that name. It is safe for
// concurrent use.
type Gate struct {
	mu     sync.Mutex
	orders []order
	seen   []string
}

type order struct {
	command string
	severs  bool // the client that wrote the command reads nothing more
	do      func(inner net.Conn, request []byte) error
}

// Through returns env with a gate between its clients and its servers.
func Through(env onredis.Environment) (onredis.Environment, *Gate) {
	g := &Gate{}
	env.Redis = g.before(env.Redis)
	var others []*redis.Options
	for _, opt := range env.Others {
		others = append(others, g.before(opt))
	}
	env.Others = others
	return env, g
}

// before returns options that connect to the same server through the gate.
func (g *Gate) before(to *redis.Options) *redis.Options {
	opt := *to
	dial := opt.Dialer
	if dial == nil {
		dial = redis.NewDialer(&opt)
	}
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		inner, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &gatedConn{Conn: inner, gate: g, done: make(chan struct{})}, nil
	}
	return &opt
}

// Seen returns the names of the commands sent so far, in upper case, without the
// ones that set up connections.
func (g *Gate) Seen() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.seen)
}

// LoseReply makes the server run the next command with that name, and cuts the
// connection before its reply arrives.
func (g *Gate) LoseReply(command string) {
	g.add(order{command, true, func(inner net.Conn, request []byte) error {
		defer inner.Close()
		return deliver(inner, request)
	}})
}

// A Stop is a command held by a [Gate].
type Stop struct {
	// Reached is closed when the command has arrived.
	Reached <-chan struct{}
	// Go sends it on, and returns without waiting for a reply.
	Go func()
	// Drop cuts its connection instead.
	Drop func()
}

// Stop holds the next command with that name, and its client, until Go or Drop is
// called.
func (g *Gate) Stop(command string) Stop {
	reached, verdict := make(chan struct{}), make(chan bool, 1)
	g.add(order{command, false, func(inner net.Conn, request []byte) error {
		close(reached)
		if !<-verdict {
			return inner.Close()
		}
		if err := inner.SetWriteDeadline(time.Time{}); err != nil {
			return err
		}
		_, err := inner.Write(request)
		return err
	}})
	return Stop{reached, func() { verdict <- true }, func() { verdict <- false }}
}

// Delay cuts the client's connection at the next command with that name. The server
// gets the command later, when the returned function is called, which returns after
// the server ran it.
func (g *Gate) Delay(command string) (arrive func() error) {
	type cut struct {
		inner   net.Conn
		request []byte
	}
	stuck := make(chan cut, 1)
	g.add(order{command, true, func(inner net.Conn, request []byte) error {
		stuck <- cut{inner, slices.Clone(request)}
		return nil
	}})
	return func() error {
		c := <-stuck
		defer c.inner.Close()
		return deliver(c.inner, c.request)
	}
}

// deliver sends a request and waits until the server has run it.
func deliver(inner net.Conn, request []byte) error {
	if err := inner.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if _, err := inner.Write(request); err != nil {
		return err
	}
	_, err := inner.Read(make([]byte, 4096))
	return err
}

func (g *Gate) add(o order) {
	o.command = strings.ToUpper(o.command)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.orders = append(g.orders, o)
}

// take records the commands of request and returns the order for one of them, if
// any.
func (g *Gate) take(request []byte) (order, bool) {
	names := commands(request)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range names {
		if !slices.Contains([]string{"HELLO", "AUTH", "SELECT", "CLIENT", "PING"}, name) {
			g.seen = append(g.seen, name)
		}
	}
	i := slices.IndexFunc(g.orders, func(o order) bool { return slices.Contains(names, o.command) })
	if i < 0 {
		return order{}, false
	}
	o := g.orders[i]
	g.orders = slices.Delete(g.orders, i, i+1)
	return o, true
}

// commands returns the upper-case names of the commands in a request: RESP
// arrays of bulk strings.
func commands(request []byte) []string {
	var names []string
	for len(request) > 0 && request[0] == '*' {
		var n int
		n, request = number(request)
		for i := range n {
			size, rest := number(request)
			if i == 0 {
				names = append(names, strings.ToUpper(string(rest[:size])))
			}
			request = rest[size+len("\r\n"):]
		}
	}
	return names
}

// number reads a line such as "*3" or "$11" and returns the rest.
func number(b []byte) (int, []byte) {
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	n, _ := strconv.Atoi(string(line[1:]))
	return n, rest
}

// A gatedConn asks the gate before it writes. One goroutine writes, and the same or
// another one reads.
type gatedConn struct {
	net.Conn
	gate    *Gate
	reading sync.Mutex // held while reading from the server
	severed atomic.Bool
	done    chan struct{} // closed when the severing order is carried out
}

func (c *gatedConn) Write(request []byte) (int, error) {
	if c.severed.Load() {
		return 0, net.ErrClosed
	}
	o, met := c.gate.take(request)
	if !met {
		return c.Conn.Write(request)
	}
	if o.severs {
		c.sever()
		defer close(c.done)
	}
	if err := o.do(c.Conn, request); err != nil {
		return 0, err
	}
	return len(request), nil
}

// sever stops reading from the server.
func (c *gatedConn) sever() {
	c.severed.Store(true)
	_ = c.Conn.SetReadDeadline(time.Now()) // fails when the connection is closed, and then nobody reads either
	c.reading.Lock()
	defer c.reading.Unlock()
}

// Read returns the end of a severed connection once the order is carried out.
func (c *gatedConn) Read(b []byte) (n int, err error) {
	c.reading.Lock()
	if !c.severed.Load() {
		n, err = c.Conn.Read(b)
	}
	c.reading.Unlock()
	if c.severed.Load() {
		<-c.done
		return 0, io.EOF
	}
	return n, err
}

// Close leaves the server's end of a severed connection to the code that severed it.
func (c *gatedConn) Close() error {
	if c.severed.Load() {
		return nil
	}
	return c.Conn.Close()
}
