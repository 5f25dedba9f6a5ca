package inject

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// A mortalConn ends with its process.
type mortalConn struct {
	net.Conn
	p *Process
}

// A mortalSocket is one that shows its socket, as the client library wants in order
// to see whether the server has hung up.
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

// Close implements net.Conn.
func (c *mortalConn) Close() error {
	c.p.forget(c.Conn)
	return c.Conn.Close()
}

// errCut is what a lock is told of a connection that broke before it could send.
var errCut = &net.OpError{Op: "write", Net: "unix", Err: os.NewSyscallError("write", syscall.EPIPE)}

// errReplyLost is what it is told of one that broke before the reply came.
var errReplyLost = &net.OpError{Op: "read", Net: "unix", Err: os.NewSyscallError("read", syscall.ECONNRESET)}

// hungUp reports whether err shows that the other side broke the connection off: what
// was sent on it has had what effect it had. That a reply took too long does not
// show it.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
