package relay

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Relay listens at an address of its own, and connects each client to one server. Its methods are
// safe for concurrent use.
type Relay struct {
	dial     Accept  // connects to the server
	handler  Handler // nil unless requests are read
	opaque   bool    // the protocol is not RESP
	listener net.Listener
	ctx      context.Context // done when the relay is closed
	cancel   context.CancelFunc
	running  sync.WaitGroup

	network atomic.Pointer[network]

	mu     sync.Mutex
	faults []*Fault
	links  map[*link]struct{}
}

// A Dial connects to the server of a relay, for one of its clients.
type Dial func(context.Context) (net.Conn, error)

// An Accept connects to the server for a client, which it may speak with before.
type Accept func(ctx context.Context, client net.Conn) (net.Conn, error)

// To returns the Dial to a TCP address.
func To(address string) Dial {
	return func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }
}

// Listen returns a relay to a server, at a free port of the loopback. The server need not be up. Unless
// handler is nil, it is asked about each request of the clients, which speak RESP. The caller closes the
// relay.
func Listen(dial Dial, handler Handler) (*Relay, error) { return listen(dial, handler, false) }

// ListenOpaque returns a [Listen] relay for clients that speak any protocol. It takes for a request what a
// client sends until the server answers, and for its reply the bytes that the server sends first. The
// name of each is [Exchange].
func ListenOpaque(dial Dial, handler Handler) (*Relay, error) { return listen(dial, handler, true) }

func listen(dial Dial, handler Handler, opaque bool) (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a relay: %w", err)
	}
	r := newRelay()
	r.handler, r.opaque = handler, opaque
	r.serve(listener, func(ctx context.Context, _ net.Conn) (net.Conn, error) { return dial(ctx) })
	return r, nil
}

// Serve returns a relay for the clients of a listener, each to the server that accept connects to. The caller
// closes the relay, which closes the listener.
func Serve(listener net.Listener, accept Accept) *Relay {
	r := newRelay()
	r.serve(listener, accept)
	return r
}

func (r *Relay) serve(listener net.Listener, accept Accept) {
	r.dial, r.listener = accept, listener
	context.AfterFunc(r.ctx, func() { _ = listener.Close() }) // nobody can be told of an error
	r.running.Go(r.accept)
}

func newRelay() *Relay {
	r := &Relay{links: map[*link]struct{}{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.network.Store(newNetwork(nil))
	return r
}

// Address returns the address at which the relay listens.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// Connections returns the number of clients that are connected to the server.
func (r *Relay) Connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.links)
}

// Close breaks all connections, accepts no more and waits for the goroutines of the relay. Further
// calls do nothing.
func (r *Relay) Close() {
	r.cancel()
	r.mu.Lock()
	for l := range r.links {
		l.cut()
	}
	r.mu.Unlock()
	r.running.Wait()
}

// accept accepts clients until the relay is closed. Another error is a lack of file descriptors, which
// may pass.
func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err == nil {
			r.running.Go(func() { r.connect(client) })
			continue
		}
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(pace):
		}
	}
}

// connect connects a client to the server. A client of a server that cannot be reached is hung up on.
func (r *Relay) connect(client net.Conn) {
	server, err := r.dial(r.ctx, client)
	if err != nil {
		_ = client.Close() // the client learns of it
		return
	}
	r.forward(client, server)
}

// forward forwards between two connections until both of their streams end, and closes them.
func (r *Relay) forward(client, server net.Conn) {
	l := &link{client: client, server: server, broken: make(chan struct{})}
	r.mu.Lock()
	r.links[l] = struct{}{}
	closed := r.ctx.Err() != nil
	r.mu.Unlock()
	if closed {
		l.cut()
	}
	var streams sync.WaitGroup
	requests, replies := newStream(r, l, client, server), newStream(r, l, server, client)
	switch {
	case r.handler != nil && r.opaque:
		requests.pass, replies.pass = l.exchange(r.handler, requests.forward), l.answer(replies.forward)
	case r.handler != nil:
		requests.next, replies.next = NewMessages(client).Next, NewMessages(server).Next
		requests.pass, replies.pass = l.request(r.handler, requests.forward), l.reply(replies.forward)
	}
	for _, s := range []*stream{requests, replies} {
		streams.Go(s.read)
		streams.Go(s.write)
	}
	streams.Wait()
	l.cut()
	r.mu.Lock()
	delete(r.links, l)
	r.mu.Unlock()
}

// A link is a client's connection to the relay with the relay's own to the server.
type link struct {
	client, server net.Conn
	once           sync.Once
	broken         chan struct{} // closed when the connections are
	lost           atomic.Bool   // bytes of it were discarded
	pending        pending       // requests without a reply
	asked          atomic.Bool   // an exchange waits for its reply
}

// cut closes both connections.
func (l *link) cut() {
	l.once.Do(func() {
		close(l.broken)
		_, _ = l.client.Close(), l.server.Close() // they may be broken
	})
}
