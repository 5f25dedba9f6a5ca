package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A conn is a session on one connection, which ends with it. It knows the few operations that lockbench
// needs: locks are adapters, whose clients are libraries. The format is that of zookeeper.jute in the
// sources of ZooKeeper. Its methods are safe for concurrent use.
type conn struct {
	timeout time.Duration // of the session

	mu   sync.Mutex // held during a request
	net  net.Conn
	last int32 // number of the last request
	err  error // why it is of no more use

	done chan struct{} // closed by close
}

// The operations.
const (
	opCreate      = 1
	opDelete      = 2
	opGet         = 4
	opSet         = 5
	opGetChildren = 8
	opPing        = 11
	opClose       = -11
)

// pingID is the number of every ping.
const pingID = -2

// A code is an error that the server answered: the operation had no effect.
type code int32

// The codes that callers tell apart.
const (
	noNode     code = -101
	badVersion code = -103
	nodeExists code = -110
)

// Error implements error.
func (c code) Error() string {
	switch c {
	case noNode:
		return "there is no such node"
	case badVersion:
		return "the node has another version"
	case nodeExists:
		return "the node exists"
	case -102:
		return "the server does not permit it"
	}
	return fmt.Sprintf("the server answered error %d", int32(c))
}

const (
	dialTimeout = 2 * time.Second
	// patience is how long a request waits for its reply: longer than a fault keeps a server silent.
	patience = 5 * time.Second
	// idle is the session time-out that a conn requests.
	idle = 30 * time.Second
	// longest is the largest message that is read.
	longest = 1 << 20
)

// newConn opens a session on a connection. The caller closes it.
func newConn(ctx context.Context, to net.Conn) (*conn, error) {
	c := &conn{net: to, done: make(chan struct{})}
	const passwordLength = 16
	var hello encoder
	hello.int32(0) // version of the protocol
	hello.int64(0) // last change seen
	hello.int32(int32(idle / time.Millisecond))
	hello.int64(0) // a new session
	hello.text(string(make([]byte, passwordLength)))
	answer, err := c.exchange(ctx, hello)
	if err == nil {
		answer.int32()
		c.timeout = time.Duration(answer.int32()) * time.Millisecond
		if err = answer.err; err == nil && c.timeout <= 0 {
			err = errors.New("the server refused the session")
		}
	}
	if err != nil {
		_ = to.Close()
		return nil, err
	}
	go c.keep()
	return c, nil
}

// keep keeps the session until the conn is closed.
func (c *conn) keep() {
	const pings = 3 // in a time-out
	beat := time.NewTicker(c.timeout / pings)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			_, _ = c.do(context.Background(), opPing, nil) // a later request gets the error
		case <-c.done:
			return
		}
	}
}

// close ends the session.
func (c *conn) close() {
	close(c.done)
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	_, _ = c.do(ctx, opClose, nil) // else it ends by its time-out
	_ = c.net.Close()
}

// do sends a request and returns the body of the reply. After an error that is no code, the conn is of no
// more use.
func (c *conn) do(ctx context.Context, op int32, body encoder) (*decoder, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	c.last++
	id := c.last
	if op == opPing {
		id = pingID
	}
	var message encoder
	message.int32(id)
	message.int32(op)
	answer, err := c.exchange(ctx, append(message, body...))
	if err != nil {
		c.err = err
		return nil, err
	}
	number := answer.int32()
	answer.int64() // the last change
	if failed := code(answer.int32()); failed != 0 && answer.err == nil {
		return nil, failed
	}
	if answer.err == nil && number != id {
		answer.err = fmt.Errorf("the server answered request %d, want %d", number, id)
	}
	c.err = answer.err
	return answer, answer.err
}

// exchange sends a message and reads one.
func (c *conn) exchange(ctx context.Context, message encoder) (*decoder, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	end, _ := ctx.Deadline()
	if err := c.net.SetDeadline(end); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Now()) })() // a reply may have come all the same
	var length encoder
	length.int32(int32(len(message)))
	if _, err := c.net.Write(append(length, message...)); err != nil {
		return nil, err
	}
	header := make([]byte, len(length))
	if _, err := io.ReadFull(c.net, header); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(header)
	if n > longest {
		return nil, fmt.Errorf("a message of %d bytes; hint: does a ZooKeeper listen there?", n)
	}
	reply := make([]byte, n)
	_, err := io.ReadFull(c.net, reply)
	return &decoder{from: reply}, err
}

// create creates a node that everybody may change.
func (c *conn) create(ctx context.Context, path string, data []byte) error {
	const allRights = 31
	var body encoder
	body.text(path)
	body.text(string(data))
	body.int32(1) // permissions
	body.int32(allRights)
	body.text("world")
	body.text("anyone")
	body.int32(0) // neither ephemeral nor numbered
	_, err := c.do(ctx, opCreate, body)
	return err
}

// A stat describes a node.
type stat struct {
	version   int32     // of its data
	written   time.Time // by the clock of the server
	ephemeral bool      // it ends with a session
}

// get returns the data of a node, and its description.
func (c *conn) get(ctx context.Context, path string) (data []byte, of stat, err error) {
	answer, err := c.do(ctx, opGet, unwatched(path))
	if err != nil {
		return nil, of, err
	}
	text := answer.text()
	const before = 3 // numbers of 64 bits come before the time of the last write
	for range before {
		answer.int64()
	}
	of.written = time.UnixMilli(answer.int64())
	of.version = answer.int32()
	answer.int64() // versions of the children and of the permissions
	of.ephemeral = answer.int64() != 0
	return []byte(text), of, answer.err
}

// set sets the data of a node if they have this version.
func (c *conn) set(ctx context.Context, path string, data []byte, version int32) error {
	var body encoder
	body.text(path)
	body.text(string(data))
	body.int32(version)
	_, err := c.do(ctx, opSet, body)
	return err
}

// remove deletes a node, whatever its version, and the nodes below it. It returns the number of nodes.
func (c *conn) remove(ctx context.Context, path string) (n int, err error) {
	names, err := c.children(ctx, path)
	for _, name := range names {
		if err != nil {
			return n, err
		}
		var below int
		below, err = c.remove(ctx, path+"/"+name)
		n += below
	}
	if err == nil {
		const anyVersion = -1
		var body encoder
		body.text(path)
		body.int32(anyVersion)
		_, err = c.do(ctx, opDelete, body)
	}
	if errors.Is(err, noNode) { // an ephemeral node has ended
		return n, nil
	}
	return n + 1, err
}

// walk calls f for a node and all below it. It leaves out nodes that end meanwhile.
func (c *conn) walk(ctx context.Context, path string, f func(stat)) error {
	_, of, err := c.get(ctx, path)
	if err == nil {
		f(of)
		var names []string
		names, err = c.children(ctx, path)
		for _, name := range names {
			if err == nil {
				err = c.walk(ctx, path+"/"+name, f)
			}
		}
	}
	if errors.Is(err, noNode) {
		return nil
	}
	return err
}

// children returns the names of the nodes right below a node.
func (c *conn) children(ctx context.Context, path string) (names []string, err error) {
	answer, err := c.do(ctx, opGetChildren, unwatched(path))
	if err != nil {
		return nil, err
	}
	for range answer.int32() {
		names = append(names, answer.text())
		if answer.err != nil {
			return nil, answer.err
		}
	}
	return names, answer.err
}

// unwatched returns the body of a request that reads a node.
func unwatched(path string) (body encoder) {
	body.text(path)
	return append(body, 0)
}

// An encoder has the bytes of a message.
type encoder []byte

func (e *encoder) int32(n int32) { *e = binary.BigEndian.AppendUint32(*e, uint32(n)) }
func (e *encoder) int64(n int64) { *e = binary.BigEndian.AppendUint64(*e, uint64(n)) }

func (e *encoder) text(s string) {
	e.int32(int32(len(s)))
	*e = append(*e, s...)
}

// A decoder reads a message. Reading beyond its end returns zeros and sets err.
type decoder struct {
	from []byte
	err  error
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.from) {
		d.err = io.ErrUnexpectedEOF
		return make([]byte, max(0, min(n, binary.MaxVarintLen64)))
	}
	taken := d.from[:n]
	d.from = d.from[n:]
	return taken
}

func (d *decoder) int32() int32 { return int32(binary.BigEndian.Uint32(d.take(4))) }
func (d *decoder) int64() int64 { return int64(binary.BigEndian.Uint64(d.take(8))) }

// text reads a text, or data; both may be missing.
func (d *decoder) text() string { return string(d.take(max(0, int(d.int32())))) }
