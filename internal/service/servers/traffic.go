package servers

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// Traffic counts the bytes of connections as the client writes and reads them, without the
// overhead of TLS and the network. It is safe for concurrent use.
type Traffic struct{ Sent, Received atomic.Int64 }

// Meter makes t count the bytes of the connections that opt will dial.
func (t *Traffic) Meter(opt *redis.Options) {
	dial := opt.Dialer
	if dial == nil {
		dial = redis.NewDialer(opt)
	}
	opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return t.meter(conn), nil
	}
}

func (t *Traffic) meter(conn net.Conn) net.Conn {
	m := meteredConn{conn, t}
	if socket, ok := conn.(syscall.Conn); ok {
		return &meteredSocket{m, socket}
	}
	return &m
}

// A meteredConn counts its bytes.
type meteredConn struct {
	net.Conn
	traffic *Traffic
}

// A meteredSocket is a meteredConn that exposes its socket. go-redis uses the socket to check
// whether the server has hung up.
type meteredSocket struct {
	meteredConn
	syscall.Conn
}

// Read implements net.Conn.
func (c *meteredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.traffic.Received.Add(int64(n))
	return n, err
}

// Write implements net.Conn.
func (c *meteredConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.traffic.Sent.Add(int64(n))
	return n, err
}
