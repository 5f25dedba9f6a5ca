package servers

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/replylimit"
)

// trusted is for how long after an answer a connection is taken for whole without
// being looked at.
const trusted = 10 * time.Millisecond

// patience is what part of the time left a deadline may come early by.
const patience = 20

// steadily returns opt's dialer, of connections that cost less in steady use.
func steadily(opt *redis.Options) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := redis.NewDialer(opt)
	slack := slackOf(opt)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return steady(conn, slack), nil
	}
}

// slackOf is how late a deadline may move on.
func slackOf(opt *redis.Options) time.Duration {
	return max(0, min(opt.ReadTimeout, opt.WriteTimeout)/patience)
}

// steady returns conn as a steadyConn; when it hides its socket, as TLS
// does, with a bound on its replies alone.
func steady(conn net.Conn, slack time.Duration) net.Conn {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return replylimit.Conn(conn)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return replylimit.Conn(conn)
	}
	return &steadyConn{Conn: conn, raw: raw, slack: slack, opened: time.Now()}
}

// A steadyConn spares what go-redis does to a connection around every command,
// beside writing the command and reading the reply: four system calls and six
// changes of timers a pair of commands, a third of a client's time.
//
//   - A deadline that moves on by less than slack, and by less than a twentieth of
//     the time that is left to it, stays where it is: time-outs come early by that
//     much at most.
//   - Whether the server has hung up is not asked within 10 ms of an answer.
//   - Before it looks for a reply it lets other goroutines run: the reply takes its
//     time, and asking before it is there takes two system calls more and a sleep.
//
// It is safe for concurrent use as go-redis has it: one goroutine reads, one
// writes, and deadlines are set before, not during, what they are for.
type steadyConn struct {
	net.Conn
	raw         syscall.RawConn
	slack       time.Duration
	read, write deadline
	opened      time.Time
	answered    atomic.Int64 // ns since opened
	replies     replylimit.Limit
	traffic     *Traffic // what counts what it carries; may be nil
}

// A deadline is what the connection has been told, in Unix ns: zero is none, and
// less than zero is one that was taken back without telling.
type deadline struct{ told atomic.Int64 }

// set tells the connection of a deadline, where that makes a difference.
func (d *deadline) set(t time.Time, slack time.Duration, tell func(time.Time) error) error {
	told := max(d.told.Load(), -d.told.Load())
	if t.IsZero() {
		d.told.Store(-told)
		return nil
	}
	at := t.UnixNano()
	if told == 0 || at < told || at-told >= int64(min(slack, time.Until(t)/patience)) {
		told = at
		if err := tell(t); err != nil {
			return err
		}
	}
	d.told.Store(told)
	return nil
}

// settle tells the connection of a deadline that was taken back.
func (d *deadline) settle(tell func(time.Time) error) error {
	if d.told.Load() >= 0 {
		return nil
	}
	d.told.Store(0)
	return tell(time.Time{})
}

// Read implements net.Conn.
func (c *steadyConn) Read(b []byte) (int, error) {
	if err := c.read.settle(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	runtime.Gosched()
	n, err := c.Conn.Read(b)
	if err == nil {
		c.answered.Store(int64(time.Since(c.opened)))
	}
	if c.traffic != nil {
		c.traffic.Received.Add(int64(n))
	}
	if over := c.replies.Take(b[:n]); over != nil {
		return 0, over
	}
	return n, err
}

// Write implements net.Conn.
func (c *steadyConn) Write(b []byte) (int, error) {
	if err := c.write.settle(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if c.traffic != nil {
		c.traffic.Sent.Add(int64(n))
	}
	return n, err
}

// SetReadDeadline implements net.Conn.
func (c *steadyConn) SetReadDeadline(t time.Time) error {
	return c.read.set(t, c.slack, c.Conn.SetReadDeadline)
}

// SetWriteDeadline implements net.Conn.
func (c *steadyConn) SetWriteDeadline(t time.Time) error {
	return c.write.set(t, c.slack, c.Conn.SetWriteDeadline)
}

// SetDeadline implements net.Conn.
func (c *steadyConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SyscallConn implements syscall.Conn, for the one use that go-redis makes of it:
// to look whether the server has hung up.
func (c *steadyConn) SyscallConn() (syscall.RawConn, error) { return (*socket)(c), nil }

// A socket is a steadyConn's, not looked at in vain.
type socket steadyConn

// Read implements syscall.RawConn. It does not call f while the connection is
// trusted.
func (s *socket) Read(f func(fd uintptr) (done bool)) error {
	if answered := s.answered.Load(); answered > 0 && time.Since(s.opened)-time.Duration(answered) < trusted {
		return nil
	}
	if err := s.read.settle(s.Conn.SetReadDeadline); err != nil {
		return err
	}
	return s.raw.Read(f)
}

// Write implements syscall.RawConn.
func (s *socket) Write(f func(fd uintptr) (done bool)) error { return s.raw.Write(f) }

// Control implements syscall.RawConn.
func (s *socket) Control(f func(fd uintptr)) error { return s.raw.Control(f) }
