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

// What the calls on a connection return when it breaks.
var (
	errReset   = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	errPipe    = &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	errLate    = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	errCrashed = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("the process died in this schedule")}
)

// conn is one connection, both ends of it. Everything in it is guarded by the
// server's mutex.
type conn struct {
	server          *Server
	process, number int
	clientEnd
	serverEnd
}

// A clientEnd is what calls on the connection see. Replies are read in the order in which
// they were sent, also after the connection broke; once closed or crashed nothing is.
type clientEnd struct {
	ready      *sync.Cond
	out        []byte // replies not read yet
	read       int    // how much of out was read; both begin anew when that is all
	deadline   time.Time
	reading    bool     // a Read waits
	late       bool     // the next Read is to time out
	closed     bool     // by the client
	broken     error    // by the server, told once out is read
	crashed    bool     // its thread died: calls wait until Retire
	unanswered bool     // replies no longer arrive
	slow       *Command // replies are to be kept in this one
}

// A serverEnd is what the server knows of the connection. Queue holds what arrived and was
// not run, in order; while a command blocks, those behind it cannot run.
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
	gone     bool // no longer among the server's
}

// Dial opens a connection for a process. It parks when the process has crashed, until
// Retire, and returns an error then and after Close; otherwise it does not block.
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

// park waits until Retire if the process, or the thread that calls, has crashed, and
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

// Write sends commands to the server. It never blocks but for crashed processes.
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

// Read waits for replies, until the deadline at most.
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

// take reads what is there; zero and no error is nothing yet.
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

// parked: the client of the connection has crashed.
func (c *conn) parked() bool { return c.crashed || c.server.crashed[c.process] }

func (c *conn) overdue() bool { return !c.deadline.IsZero() && !time.Now().Before(c.deadline) }

// send lets the client read a reply.
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

// Close is the client's. A command that it had sent may still run.
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

// leave is what the server does when a client's end is closed: it forgets what the
// connection waited and listened for. What had arrived stays pending.
func (s *Server) leave(c *conn) {
	c.channels, c.patterns = nil, nil
	s.unblock(c)
	if len(c.queue) == 0 {
		s.forget(c)
	}
}

// hangUp is the server's end closed: nothing of the connection is executed any
// more, and once replies are read its calls return err.
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

// SetReadDeadline makes Read return os.ErrDeadlineExceeded at t. What had been sent
// stays pending and may be executed later.
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

// LocalAddr is the process's, RemoteAddr the server's; both are made up.
func (c *conn) LocalAddr() net.Addr  { return address(40000 + c.number) }
func (c *conn) RemoteAddr() net.Addr { return address(6379) }

func address(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }
