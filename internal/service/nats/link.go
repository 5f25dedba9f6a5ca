package nats

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// An Access is the means of a process of a design to connect to a server.
type Access struct {
	server *Server
	dial   design.Dial
}

var (
	_ design.Dialed    = (*Access)(nil)
	_ design.Addressed = (*Access)(nil)
)

// Dialing implements [design.Dialed].
func (a *Access) Dialing(wrap func(design.Dial) design.Dial) any {
	return &Access{server: a.server, dial: wrap(a.dial)}
}

// DialServer implements [design.Addressed].
func (a *Access) DialServer(ctx context.Context) (net.Conn, error) {
	return a.dial(ctx, "tcp", a.server.url.Host)
}

// URL implements [design.Addressed].
func (a *Access) URL(via string) string {
	u := *a.server.url
	u.Host = via
	return u.String()
}

// Create creates the bucket of a prefix, unless it exists. It does not connect as the process does, so
// that no fault meets it.
func (a *Access) Create(ctx context.Context, prefix string) error {
	return a.server.create(ctx, prefix)
}

// Link returns the connection of a process, which is opened by its first request. The process has the
// bucket of prefix, or none if prefix is empty. Each of its requests goes by pass, unless that is nil.
func (a *Access) Link(prefix string, pass func(ctx context.Context, send func(context.Context) error) error) *Link {
	l := &Link{access: a, prefix: prefix, pass: pass, turn: make(chan struct{}, 1)}
	l.open, l.end = context.WithCancel(context.Background())
	if pass == nil {
		l.pass = func(ctx context.Context, send func(context.Context) error) error { return send(ctx) }
	}
	return l
}

// A Link is a connection. When it breaks, the next request opens it again. The client library does not
// reconnect by itself, because it would then send requests late, after their callers have given up. A
// Link is safe for concurrent use.
type Link struct {
	access *Access
	prefix string
	pass   func(ctx context.Context, send func(context.Context) error) error
	open   context.Context // until Close
	end    context.CancelFunc

	turn chan struct{} // guards now: full while a goroutine uses it
	now  Conn          // the newest connection
}

// A Conn is a connection to a server.
type Conn struct {
	Client    *nats.Conn
	JetStream jetstream.JetStream
	Bucket    jetstream.KeyValue // nil for a Link without one
}

// Do sends a request, and waits for its reply for some seconds. The error is [lockbench.ErrNoEffect] if
// the request was not sent, or was answered with an error.
func (l *Link) Do(ctx context.Context, request func(context.Context, Conn) error) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := l.connected(waiting)
	if err != nil {
		return fmt.Errorf("%w: connect: %w", lockbench.ErrNoEffect, err)
	}
	err = l.pass(ctx, func(ctx context.Context) error {
		waiting, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err := request(waiting, conn)
		if err != nil && waiting.Err() != nil && ctx.Err() == nil {
			conn.Client.Close() // it may have lost a part of the request
		}
		return err
	})
	if errors.Is(err, nats.ErrConnectionClosed) {
		err = fmt.Errorf("%w: %w", net.ErrClosed, err)
	}
	var answer *jetstream.APIError
	if errors.As(err, &answer) || errors.Is(err, jetstream.ErrNoStreamResponse) {
		return fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
	}
	return err
}

// connected returns the connection, which it opens if need be.
func (l *Link) connected(ctx context.Context) (Conn, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return Conn{}, ctx.Err()
	}
	defer func() { <-l.turn }()
	if l.open.Err() != nil {
		return Conn{}, errClosed
	}
	if l.now.Client != nil && !l.now.Client.IsClosed() {
		return l.now, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.open, cancel)()
	conn, err := l.access.connect(ctx, l.prefix)
	if err == nil {
		l.now = conn
	}
	return conn, err
}

var errClosed = errors.New("the process was closed")

// Close ends the connection. Requests under way fail.
func (l *Link) Close() error {
	l.end()
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.now.Client != nil {
		l.now.Client.Close()
	}
	return nil
}

// connect opens a connection, within some seconds.
func (a *Access) connect(ctx context.Context, prefix string) (conn Conn, err error) {
	if prefix != "" {
		if err := a.Create(ctx, prefix); err != nil {
			return conn, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	d := &dialer{ctx: ctx, dial: a.dial}
	defer func() {
		if !d.settled() && err == nil {
			err = ctx.Err()
		}
		if err != nil && conn.Client != nil {
			conn.Client.Close()
		}
	}()
	conn.Client, err = nats.Connect(a.server.URL(), nats.Name("lockbench"), nats.NoReconnect(), nats.Timeout(dialTimeout), nats.SetCustomDialer(d),
		nats.SkipHostLookup(), nats.IgnoreDiscoveredServers(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if d.err != nil { // the client library does not return it
		err = d.err
	}
	if err != nil {
		return conn, err
	}
	if conn.JetStream, err = jetstream.New(conn.Client); err == nil && prefix != "" {
		conn.Bucket, err = conn.JetStream.KeyValue(ctx, bucketOf(prefix))
	}
	return conn, err
}

// A dialer opens one connection, which ends with ctx until it is settled.
type dialer struct {
	ctx  context.Context
	dial design.Dial
	stop func() bool
	err  error
}

// Dial implements [nats.CustomDialer].
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := d.dial(d.ctx, network, address)
	if d.err = err; err == nil {
		d.stop = context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	}
	return conn, err
}

// settled lets the connection outlive ctx, and reports whether ctx has not ended it yet.
func (d *dialer) settled() bool { return d.stop == nil || d.stop() }

// prefixLabel is the metadata of a bucket that names its prefix. Sweep removes no bucket without it.
const prefixLabel = "lockbench-prefix"

// markerTTL is how long the server marks a key whose lease has ended. A marker that ended between the
// two requests of an acquire would make the second one fail, though nobody holds the key.
const markerTTL = time.Hour

// create creates the bucket of a prefix, unless it exists.
func (s *Server) create(ctx context.Context, prefix string) error {
	create := func(ctx context.Context, on Conn) error {
		_, err := on.JetStream.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: bucketOf(prefix), LimitMarkerTTL: markerTTL, Metadata: map[string]string{prefixLabel: prefix},
		})
		if why := on.Client.LastError(); err != nil && why != nil { // no answer, but this, without the permission
			err = fmt.Errorf("%w: %w", err, why)
		}
		return err
	}
	if err := s.created.Once(prefix, func() error { return s.with(ctx, create) }); err != nil {
		return fmt.Errorf("server %s: create bucket %s: %w", s.Address(), bucketOf(prefix), err)
	}
	return nil
}

var unfit = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// bucketOf returns the name of the bucket for a prefix.
func bucketOf(prefix string) string {
	return unfit.ReplaceAllString(strings.TrimSuffix(prefix, ":"), "-")
}

// Key returns the name of an entry. NATS permits letters, digits and a few other characters in names.
func Key(kind, key string) string {
	return kind + ".=" + base64.RawURLEncoding.EncodeToString([]byte(key))
}

// Subject returns the subject of an entry, for requests that the key-value API does not have.
func Subject(in jetstream.KeyValue, key string) string { return "$KV." + in.Bucket() + "." + key }
