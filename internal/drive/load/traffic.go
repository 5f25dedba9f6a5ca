package load

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/lockbench/lockbench/impls/design"
)

// A traffic counts the bytes of the connections of one process as the client writes and reads them,
// without the overhead of TLS and the network. It is safe for concurrent use.
type traffic struct {
	sent, received atomic.Int64
	open           *gauge
}

// A gauge is a number that goes up and down, and its highest value. It is safe for concurrent use.
type gauge struct{ now, highest atomic.Int64 }

func (g *gauge) add(n int64) {
	now := g.now.Add(n)
	for highest := g.highest.Load(); now > highest && !g.highest.CompareAndSwap(highest, now); {
		highest = g.highest.Load()
	}
}

// meter makes t count the connections that the means to connect to services, of
// [design.Environment.Services], will dial.
func (t *traffic) meter(services []any) {
	for i, s := range services {
		if s, ok := s.(design.Dialed); ok {
			services[i] = s.Dialing(t.counted)
		}
	}
}

// counted returns a dial whose connections t counts.
func (t *traffic) counted(dial design.Dial) design.Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		t.open.add(1)
		m := &meteredConn{Conn: conn, traffic: t}
		if socket, ok := conn.(syscall.Conn); ok {
			return &meteredSocket{m, socket}, nil
		}
		return m, nil
	}
}

// A meteredConn counts its bytes, and itself while it is open.
type meteredConn struct {
	net.Conn
	traffic *traffic
	closed  atomic.Bool
}

// A meteredSocket is a meteredConn that exposes its socket. go-redis uses the socket to check
// whether the server has hung up.
type meteredSocket struct {
	*meteredConn
	syscall.Conn
}

// Read implements net.Conn.
func (c *meteredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.traffic.received.Add(int64(n))
	return n, err
}

// Write implements net.Conn.
func (c *meteredConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.traffic.sent.Add(int64(n))
	return n, err
}

// Close implements net.Conn.
func (c *meteredConn) Close() error {
	if !c.closed.Swap(true) {
		c.traffic.open.add(-1)
	}
	return c.Conn.Close()
}
