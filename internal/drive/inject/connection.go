package inject

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/lockbench/lockbench/internal/fault"
)

// A mortalConn is a connection that ends with its process.
type mortalConn struct {
	net.Conn
	p *Process
}

// A mortalSocket is a mortalConn that exposes its socket. The client library uses the socket to
// check whether the server has hung up.
type mortalSocket struct {
	mortalConn
	syscall.Conn
}

func mortal(conn net.Conn, p *Process) net.Conn {
	m := mortalConn{conn, p}
	if socket, ok := conn.(syscall.Conn); ok {
		return &mortalSocket{m, socket}
	}
	return &m
}

// Read implements net.Conn.
func (c *mortalConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.p.brokeBy(err)
}

// Write implements net.Conn.
func (c *mortalConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.p.brokeBy(err)
}

// Close implements net.Conn.
func (c *mortalConn) Close() error {
	c.p.forget(c.Conn)
	return c.Conn.Close()
}

// brokeBy records a cut for all clients of the process if err shows that the other side broke a
// connection. If lockbench sees the commands of the lock, it knows the affected client, and brokeBy
// records nothing. After the faults it records nothing either unless a client needs the connection, for a
// process may let the server end its connections. It returns err.
func (p *Process) brokeBy(err error) error {
	if err != nil && hungUp(err) && !p.watched.Load() && !p.crashed.Load() && (p.in.active.Load() || p.in.recording.Load() && (p.holds() || p.acquires())) {
		p.note(string(fault.Cut), 0)
	}
	return err
}

// errCut is the error of a connection that broke before it could send.
var errCut = &net.OpError{Op: "write", Net: "unix", Err: os.NewSyscallError("write", syscall.EPIPE)}

// errReplyLost is the error of a connection that broke before the reply came.
var errReplyLost = &net.OpError{Op: "read", Net: "unix", Err: os.NewSyscallError("read", syscall.ECONNRESET)}

// hungUp reports whether err shows that the other side broke the connection. The
// request may have had an effect. A time-out does not show it.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
