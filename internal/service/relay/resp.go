package relay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
)

// A Handler is asked about each request before it is sent, by several goroutines at a time. name is the
// name of the command in upper case. If send is false, the request is not sent and its connection breaks.
// If lost is not nil, the reply does not arrive: lost is called when it has come, and then the connection
// breaks. While the Handler runs, further requests of the connection wait.
type Handler func(name string) (send bool, lost func())

// pending are the requests of a link that have no reply yet, in order. It is safe for concurrent use.
type pending struct {
	mu    sync.Mutex
	queue []func() // called in place of the reply; nil to forward it
	// unmatched is set when replies no longer match requests.
	unmatched bool
}

func (p *pending) add(lost func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, lost)
}

// next removes the first request, and returns the function to call in place of its reply, nil to forward
// the reply.
func (p *pending) next() (lost func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unmatched || len(p.queue) == 0 {
		return nil
	}
	lost, p.queue = p.queue[0], p.queue[1:]
	return lost
}

// matches reports whether replies still match requests. It gives that up for good if giveUp is set.
func (p *pending) matches(giveUp bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unmatched = p.unmatched || giveUp
	return !p.unmatched
}

// unanswered are the commands after which replies no longer match requests.
var unanswered = map[string]bool{"SUBSCRIBE": true, "PSUBSCRIBE": true, "SSUBSCRIBE": true, "MONITOR": true, "SYNC": true, "PSYNC": true}

// request returns the function that passes on the requests of the link.
func (l *link) request(handler Handler, forward func([]byte) bool) func([]byte) bool {
	return func(message []byte) bool {
		name := Command(message)
		if !l.pending.matches(name == "" || unanswered[name]) {
			return forward(message)
		}
		send, lost := handler(name)
		if !send {
			return false
		}
		l.pending.add(lost)
		return forward(message)
	}
}

// reply returns the function that passes on the replies of the link.
func (l *link) reply(forward func([]byte) bool) func([]byte) bool {
	return func(message []byte) bool {
		const push = '>'
		if message[0] == push {
			return forward(message)
		}
		if lost := l.pending.next(); lost != nil {
			lost()
			return false
		}
		return forward(message)
	}
}

// Command returns the name of the command in a request; empty if it is not an array of texts.
func Command(request []byte) string {
	lines := bytes.SplitN(request, []byte("\r\n"), 4) // *2, $3, GET, the rest
	if len(lines) < 4 || lines[0][0] != '*' || len(lines[1]) == 0 || lines[1][0] != '$' {
		return ""
	}
	return strings.ToUpper(string(lines[2]))
}

// Messages reads the values of RESP, versions 2 and 3, as they are.
type Messages struct {
	from   *bufio.Reader
	buffer []byte
	other  bool // the stream is something else
}

// NewMessages returns the values of a stream.
func NewMessages(from io.Reader) *Messages {
	return &Messages{from: bufio.NewReaderSize(from, readLen)}
}

// errOther is the error of a stream that is not RESP.
var errOther = errors.New("not a value of RESP")

// Next returns the next value, or waiting bytes of a stream that is something else. The bytes are valid
// until the next call. At the end of the stream they may be the beginning of a value.
func (m *Messages) Next() ([]byte, error) {
	m.buffer = m.buffer[:0]
	if !m.other {
		err := m.value()
		if !errors.Is(err, errOther) {
			return m.buffer, err
		}
		m.other = true
		return m.buffer, nil
	}
	_, err := m.from.Peek(1)
	waiting, _ := m.from.Peek(m.from.Buffered())
	m.buffer = append(m.buffer, waiting...)
	_, _ = m.from.Discard(len(waiting))
	return m.buffer, err
}

// value adds a value to the buffer.
func (m *Messages) value() error {
	kind, err := m.from.Peek(1)
	if err != nil {
		return err
	}
	switch kind[0] {
	case '+', '-', ':', ',', '_', '#', '(':
		_, err := m.line()
		return err
	case '$', '!', '=':
		n, err := m.count()
		if err != nil || n < 0 {
			return err
		}
		return m.take(n + len("\r\n"))
	case '*', '~', '>':
		n, err := m.count()
		return m.values(n, err)
	case '%':
		n, err := m.count()
		return m.values(2*n, err)
	case '|': // attributes come before the value that they are about
		n, err := m.count()
		return m.values(2*n+1, err)
	}
	return errOther
}

func (m *Messages) values(n int, err error) error {
	for ; n > 0 && err == nil; n-- {
		err = m.value()
	}
	return err
}

// line adds a line to the buffer, and returns it without its type and end.
func (m *Messages) line() (string, error) {
	line, err := m.from.ReadSlice('\n')
	m.buffer = append(m.buffer, line...)
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", errOther
	}
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line[1:]), "\r\n"), nil
}

// count reads the line of an aggregate or a text, and returns its number.
func (m *Messages) count() (int, error) {
	line, err := m.line()
	if err != nil {
		return 0, err
	}
	const most = 1 << 29 // of Redis
	n, err := strconv.Atoi(line)
	if err != nil || n > most {
		return 0, errOther
	}
	return n, nil
}

// take adds n bytes to the buffer.
func (m *Messages) take(n int) error {
	begin := len(m.buffer)
	m.buffer = append(m.buffer, make([]byte, n)...)
	got, err := io.ReadFull(m.from, m.buffer[begin:])
	m.buffer = m.buffer[:begin+got]
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return err
}
