package adapter

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/lockbench/lockbench/internal/service/relay"
)

// A link is a connection of a program.
type link struct {
	client   net.Conn
	opening  [][]byte // the commands that opened it
	listens  bool     // it is subscribed to messages, which are lost: it stays at the practice server
	copied   bool     // the messages of practice are copied to the program
	practice *end     // at the practice server; nil if there is none
	server   *end     // at the server of the exploration, made in the bubble; nil before the first command
	closed   bool     // by the program, or for it
	broken   bool     // at the server
}

// note keeps the state of a link that a command changes.
func (l *link) note(command []byte) {
	switch relay.Command(command) {
	case "HELLO", "AUTH", "SELECT", "CLIENT":
		l.opening = append(l.opening, command)
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE":
		l.listens = true
	}
}

// An end is a connection to a server.
type end struct {
	net.Conn
	replies *relay.Messages
}

func newEnd(c net.Conn, err error) (*end, error) {
	if err != nil {
		return nil, err
	}
	return &end{c, relay.NewMessages(c)}, nil
}

// begin executes the commands that open a connection, which may end with the given one, and that one.
func (e *end) begin(opening [][]byte, command []byte) (reply []byte, err error) {
	for _, c := range opening {
		if reply, err = e.execute(c); err != nil {
			return nil, err
		}
	}
	if n := len(opening); n > 0 && bytes.Equal(opening[n-1], command) {
		return reply, nil
	}
	return e.execute(command)
}

// isBroken reports whether the server broke the connection. No command may be under way.
func (e *end) isBroken() bool {
	_ = e.SetReadDeadline(time.Now())
	_, err := e.Read(make([]byte, 1))
	_ = e.SetReadDeadline(time.Time{})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// execute executes a command.
func (e *end) execute(command []byte) ([]byte, error) {
	if _, err := e.Write(command); err != nil {
		return nil, err
	}
	return e.replies.Next()
}

// write writes a reply to the program, or breaks a link that is closed.
func (l *link) write(reply []byte) {
	if l.closed {
		_ = l.client.Close()
		return
	}
	_, _ = l.client.Write(reply) // the program may have closed it
}

// atPractice executes a command at the practice server. It returns no reply if the link listens: replies
// reach the program among its messages.
func (l *link) atPractice(server *miniredis.Miniredis, command []byte) (reply []byte, err error) {
	opened := l.practice != nil
	if !opened {
		if l.practice, err = newEnd(server.Dial()); err != nil {
			return nil, err
		}
	}
	if !l.copied {
		_ = l.practice.SetDeadline(time.Now().Add(answerTime))
	}
	switch {
	case l.listens:
		return nil, l.listen(opened, command)
	case !opened:
		return l.practice.begin(l.opening, command)
	}
	return l.practice.execute(command)
}

// listen sends a command of a link that listens. The first one starts the messages.
func (l *link) listen(opened bool, command []byte) error {
	if !opened {
		for _, c := range l.opening {
			if _, err := l.practice.execute(c); err != nil {
				return err
			}
		}
	}
	if !l.copied {
		l.copied = true
		_ = l.practice.SetDeadline(time.Time{})
		go func(from net.Conn) { // until the link is closed: the server waits for a reader of each message
			_, _ = io.Copy(l.client, from)
			_, _ = io.Copy(io.Discard, from)
		}(l.practice)
	}
	_, err := l.practice.Write(command)
	return err
}
