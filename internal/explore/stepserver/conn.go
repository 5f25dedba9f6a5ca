package stepserver

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Errors of calls on a broken connection.
var (
	errReset   = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	errPipe    = &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	errLate    = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	errCrashed = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("the process died in this schedule")}
)

// conn is one connection, with both ends. The server's mutex guards all of it.
type conn struct {
	server          *Server
	process, number int
	clientEnd
	serverEnd
}

// A clientEnd is the client's end of a connection. Replies are read in the order in which they were
// sent, even after the connection broke. None is read after the client closed it or died.
type clientEnd struct {
	ready      *sync.Cond
	out        []byte // replies not read yet
	read       int    // number of bytes of out already read; both are reset when all is read
	deadline   time.Time
	reading    bool     // a Read waits
	late       bool     // the next Read times out
	closed     bool     // by the client
	broken     error    // by the server; returned once out is read
	crashed    bool     // its thread died: calls wait until Retire
	unanswered bool     // replies no longer arrive
	slow       *Command // RunSlow holds back the reply to this command, and all later replies
}

// A serverEnd is the server's end of a connection. queue has the commands that arrived and were not
// run, in order; none of them runs while one blocks.
type serverEnd struct {
	peer     *peer
	requests requests
	queue    []*Command
	block    *Command // the command that blocks the connection
	tx       *tx
	watched  map[string]watch
	db       int // selected
	channels []string
	patterns []string
	gone     bool // removed from the connections of the server
}

// Dial opens a connection for a process. If the process has crashed it blocks until Retire
// and returns an error. It also returns an error after Close; otherwise it does not block.
func (s *Server) Dial(process int) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.park(process) || s.closed {
		return nil, errCrashed
	}
	s.dialled[process]++
	c := &conn{server: s, process: process, number: s.dialled[process], serverEnd: serverEnd{peer: newPeer()}}
	c.ready = sync.NewCond(&s.mu)
	s.conns = append(s.conns, c)
	slices.SortStableFunc(s.conns, byProcess)
	return c, nil
}

func byProcess(a, b *conn) int {
	if a.process != b.process {
		return a.process - b.process
	}
	return a.number - b.number
}

// park waits until Retire if the process, or the client of the calling goroutine, has died. It
// reports whether it has.
func (s *Server) park(process int) bool {
	crashed := func() bool { return s.crashed[process] || s.threads.callerCrashed(process) }
	if !crashed() {
		return false
	}
	for !s.retired {
		s.parked.Wait()
	}
	return true
}

// Write sends commands to the server. It blocks only for crashed processes.
func (c *conn) Write(b []byte) (int, error) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for c.crashed {
		s.parked.Wait()
	}
	if s.park(c.process) {
		return 0, errCrashed
	}
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case c.broken != nil:
		return 0, errPipe
	}
	c.requests.add(b)
	for {
		args, err := c.requests.next()
		if err != nil {
			c.send([]byte("-ERR " + err.Error() + "\r\n"))
			s.hangUp(c, io.EOF)
		}
		if args == nil || c.broken != nil {
			return len(b), nil
		}
		s.arrive(c, args)
	}
}

// Read waits for replies, until the deadline.
func (c *conn) Read(b []byte) (int, error) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		n, err := c.take(b)
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
		if c.parked() {
			s.parked.Wait()
			continue
		}
		if !c.deadline.IsZero() {
			s.alarm.at(c.deadline)
		}
		c.reading = true
		c.ready.Wait()
		c.reading = false
	}
}

// take reads available replies; zero without an error means that there are none yet.
func (c *conn) take(b []byte) (int, error) {
	switch {
	case c.parked():
		if c.server.retired {
			return 0, errCrashed
		}
		return 0, nil
	case c.closed:
		return 0, net.ErrClosed
	case c.late:
		c.late = false
		return 0, errLate
	case c.read < len(c.out):
		n := copy(b, c.out[c.read:])
		if c.read += n; c.read == len(c.out) {
			c.out, c.read = c.out[:0], 0
		}
		return n, nil
	case c.broken != nil:
		return 0, c.broken
	case c.overdue():
		return 0, errLate
	}
	return 0, nil
}

// parked reports whether the client or the process of the connection has died.
func (c *conn) parked() bool { return c.crashed || c.server.crashed[c.process] }

func (c *conn) overdue() bool { return !c.deadline.IsZero() && !time.Now().Before(c.deadline) }

// send appends a reply for the client to read.
func (c *conn) send(reply []byte) {
	if c.unanswered || c.closed || c.broken != nil {
		return
	}
	if c.slow != nil {
		c.slow.reply = append(c.slow.reply, reply...)
		return
	}
	c.out = append(c.out, reply...)
	c.ready.Broadcast()
}

// Close closes the client's end. A command sent before may still run.
func (c *conn) Close() error {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	c.ready.Broadcast()
	s.leave(c)
	return nil
}

// leave applies that the client closed the connection: its waits and subscriptions end. Commands
// that arrived stay pending.
func (s *Server) leave(c *conn) {
	c.channels, c.patterns = nil, nil
	s.unblock(c)
	if len(c.queue) == 0 {
		s.forget(c)
	}
}

// hangUp closes the server's end: it executes no more commands of the connection, and calls of the
// client return err once all replies are read.
func (s *Server) hangUp(c *conn, err error) {
	c.queue, c.tx, c.watched = nil, nil, nil
	if c.broken == nil {
		c.broken = err
	}
	s.leave(c)
	c.ready.Broadcast()
}

func (s *Server) forget(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	s.conns = slices.DeleteFunc(s.conns, func(o *conn) bool { return o == c })
}

// SetDeadline and SetReadDeadline bound Reads in the bubble's time.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline makes Read return os.ErrDeadlineExceeded at t. Commands sent before stay
// pending and may run later.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.deadline = t
	if c.reading {
		c.ready.Broadcast()
	}
	return nil
}

// SetWriteDeadline does nothing: a Write never waits.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr returns the address of the process, RemoteAddr the address of the server. Both are
// invented.
func (c *conn) LocalAddr() net.Addr  { return address(40000 + c.number) }
func (c *conn) RemoteAddr() net.Addr { return address(6379) }

func address(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }
