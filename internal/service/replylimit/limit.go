package replylimit

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
)

// The limits of one reply. The longest replies that lockbench asks for are a page of keys and an
// INFO.
const (
	MaxBytes    = 64 << 20
	MaxElements = 1 << 17 // in all its lists together, nested ones included
	maxLine     = 1 << 20
)

// A Limit measures the replies on one connection. The zero value is at the start of a reply. It is
// not safe for concurrent use.
type Limit struct {
	bytes    int64
	elements int64
	due      int64  // values of the current reply that are still missing
	skip     int64  // remaining bytes of a string, with its end
	line     []byte // of a line that has begun
	lost     bool   // the data are not Redis' protocol, so only bytes are counted
}

// Take measures received bytes. The error says that a reply is too large.
func (l *Limit) Take(received []byte) error {
	for len(received) > 0 && !l.lost {
		if l.skip > 0 {
			n := min(l.skip, int64(len(received)))
			l.skip -= n
			received = received[n:]
			l.bytes += n
			l.ended()
			continue
		}
		end := bytes.IndexByte(received, '\n')
		if end < 0 {
			l.bytes += int64(len(received))
			if l.line = append(l.line, received...); len(l.line) > maxLine {
				return fmt.Errorf("a line of a reply has more than %d bytes", maxLine)
			}
			return l.enough()
		}
		line := received[:end+1]
		if len(l.line) > 0 {
			line = append(l.line, line...)
			l.line = line[:0]
		}
		l.bytes += int64(end + 1)
		received = received[end+1:]
		l.header(line)
		if err := l.enough(); err != nil {
			return err
		}
		l.ended()
	}
	l.bytes += int64(len(received))
	return l.enough()
}

// header handles a complete line.
func (l *Limit) header(line []byte) {
	kind := line[0]
	if kind == '|' { // precedes the value
		l.due++
	}
	if l.due > 0 {
		l.due--
	}
	switch kind {
	case '+', '-', ':', '_', '#', ',', '(':
		return
	case '$', '!', '=', '*', '%', '~', '>', '|':
	default:
		l.lost = true
		return
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(line[1:])), 10, 64)
	if err != nil {
		l.lost = true
		return
	}
	n = min(max(n, 0), 1<<40) // so that sums do not overflow
	switch kind {
	case '$', '!', '=':
		if !bytes.HasPrefix(line[1:], []byte("-")) {
			l.skip = min(n, MaxBytes) + int64(len("\r\n"))
			l.bytes += max(0, n-MaxBytes) // more than allowed
		}
	case '%', '|':
		n *= 2
		fallthrough
	default:
		l.elements += n
		l.due += n
	}
}

// enough returns an error if the current reply is too large.
func (l *Limit) enough() error {
	switch {
	case l.elements > MaxElements:
		return fmt.Errorf("a reply says that it has %d elements, more than %d", l.elements, MaxElements)
	case l.bytes+l.skip > MaxBytes:
		return fmt.Errorf("a reply has more than %d bytes", MaxBytes)
	}
	return nil
}

// ended begins the next reply if the current one is complete.
func (l *Limit) ended() {
	if l.due == 0 && l.skip == 0 && !l.lost {
		l.bytes, l.elements = 0, 0
	}
}

// Conn returns conn with a limit: a reply that is too large closes it. It gives access to its
// socket if conn does, since a client library looks there whether the server has hung up. Its Read
// is not safe for concurrent use. The error of a failed Write quotes the server's last refusal.
func Conn(conn net.Conn) net.Conn {
	l := &limited{Conn: conn}
	if socket, ok := conn.(syscall.Conn); ok {
		return &limitedSocket{l, socket}
	}
	return l
}

type limited struct {
	net.Conn
	limit   Limit
	refusal atomic.Pointer[string] // the last answer, if it was one
}

type limitedSocket struct {
	*limited
	syscall.Conn
}

// Read implements net.Conn.
func (c *limited) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.remember(b[:n])
	if over := c.limit.Take(b[:n]); over != nil {
		return 0, over
	}
	return n, err
}

// longestRefusal bounds the part of a refusal that errors quote.
const longestRefusal = 200

// remember keeps what was received last if it is a refusal.
func (c *limited) remember(received []byte) {
	switch line, _, _ := bytes.Cut(received, []byte("\r\n")); {
	case len(line) > 1 && line[0] == '-':
		text := string(line[1:min(len(line), longestRefusal)])
		c.refusal.Store(&text)
	case len(received) > 0 && c.refusal.Load() != nil:
		c.refusal.Store(nil)
	}
}

// Write implements net.Conn. If the server has hung up, the error quotes the refusal that it sent
// last, such as that it has no room for another client: a client library may not have read it, or
// have taken it for an answer to a question of its own.
func (c *limited) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return n, err
	}
	unread := make([]byte, longestRefusal)
	got, _ := c.Conn.Read(unread) // returns at once on such a connection
	c.remember(unread[:got])
	var broken *net.OpError
	if refusal := c.refusal.Load(); refusal != nil && errors.As(err, &broken) {
		explained := *broken
		explained.Err = fmt.Errorf("%w, and the server's last answer was %q", broken.Err, *refusal)
		err = &explained
	}
	return n, err
}
