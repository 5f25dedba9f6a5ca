package nats

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// Backend is the backend of designs on NATS JetStream.
type Backend struct{}

// Name implements [design.Backend].
func (Backend) Name() string { return "nats" }

// Offers implements [design.Backend].
func (Backend) Offers() design.Service { return &Server{version: "NATS"} }

// Serves implements [design.Backend].
func (Backend) Serves(address string) bool { return strings.HasPrefix(address, "nats://") }

// Open implements [design.Backend].
func (Backend) Open(ctx context.Context, addresses []string, n int) ([]design.Service, error) {
	return backend.Open(ctx, addresses, n, Connect, Start)
}

// A Server is one NATS server that answered when lockbench connected to it or started it. Its methods
// are safe for concurrent use.
type Server struct {
	*daemon.Daemon // nil for a server of the user's; acknowledged entries survive its restart
	kind, version  string
	url            *url.URL

	created backend.Created // prefixes with a bucket
}

var (
	_ design.Service   = (*Server)(nil)
	_ design.Mortal    = (*Server)(nil)
	_ design.Neighbour = (*Server)(nil)
	_ design.Prompt    = (*Server)(nil)
	_ design.Keeper    = (*Server)(nil)
	_ design.Listed    = (*Server)(nil)
	_ design.Networked = (*Server)(nil)
	_ design.Durable   = (*Server)(nil)
	_ design.Suspender = (*Server)(nil)
)

const (
	defaultPort = "4222"
	dialTimeout = 2 * time.Second
	// patience is how long a request waits for its reply: longer than a fault keeps a server silent.
	patience = 5 * time.Second
)

// newServer returns a server that nobody has connected to.
func newServer(kind, address string) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" { // err has the password
		return nil, errors.New("server: not an address of NATS; hint: nats://USER:PASSWORD@HOST:PORT, or nats://TOKEN@HOST:PORT")
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), defaultPort)
	}
	return &Server{kind: kind, url: u}, nil
}

// Connect connects to a server of the user's.
func Connect(ctx context.Context, address string) (*Server, error) {
	s, err := newServer(design.External, address)
	if err != nil {
		return nil, err
	}
	if _, err := s.greet(ctx); err != nil {
		return nil, fmt.Errorf("server %s: %w; hint: does it run there, and may this user connect from here?", s.Address(), err)
	}
	return s, nil
}

// greet connects, notes the version of the server and returns its name.
func (s *Server) greet(ctx context.Context) (name string, err error) {
	err = s.with(ctx, func(_ context.Context, on Conn) error {
		if s.version == "" {
			s.version = "nats-server " + on.Client.ConnectedServerVersion()
		}
		name = on.Client.ConnectedServerName()
		return nil
	})
	return name, err
}

// Kind implements [design.Service].
func (s *Server) Kind() string { return s.kind }

// Version implements [design.Service].
func (s *Server) Version() string { return s.version }

// Address implements [design.Service].
func (s *Server) Address() string { return "nats://" + s.url.Host }

// URL returns the address with user and password.
func (s *Server) URL() string { return s.url.String() }

// Remote implements [design.Remote].
func (s *Server) Remote() {}

// Durable implements [design.Durable].
func (s *Server) Durable() {}

// Prolongs implements [design.Prolonger]. A server ends no lease within 250 ms of its start, nor within
// 500 ms if its stream is not ready by then: restarted each 200 ms, it ends none.
func (s *Server) Prolongs() time.Duration { return 500 * time.Millisecond }

// Endpoint implements [design.Networked].
func (s *Server) Endpoint() string { return s.url.Host }

// Local implements [design.Neighbour].
func (s *Server) Local() bool { return servers.IsLoopback(s.url.Host) }

// Reach implements [design.Service].
func (s *Server) Reach() any { return s.access() }

func (s *Server) access() *Access { return &Access{server: s, dial: new(net.Dialer).DialContext} }

// Check implements [design.Service]: a run has a bucket of its own, so it creates one and removes it.
func (s *Server) Check(ctx context.Context, _ []string) error {
	prefix := "lockbench:check-" + rand.Text() + ":"
	err := s.create(ctx, prefix)
	if err == nil {
		_, err = s.Sweep(ctx, prefix)
	}
	if err != nil {
		err = fmt.Errorf("%w; hint: a run has a bucket of its own, so JetStream must be enabled (version 2.11 or later), and the user must be allowed to publish to $JS.API.> and $KV.> and to subscribe to _INBOX.>", err)
	}
	return err
}

// Ping implements [design.Service].
func (s *Server) Ping(ctx context.Context) error { return s.with(ctx, ping) }

func ping(ctx context.Context, on Conn) error { return on.Client.FlushWithContext(ctx) }

// Ask implements [design.Prompt].
func (s *Server) Ask() (ask func(ctx context.Context) error, close func() error) {
	l := s.access().Link("", nil)
	return func(ctx context.Context) error { return l.Do(ctx, ping) }, l.Close
}

// with calls f with a connection of its own.
func (s *Server) with(ctx context.Context, f func(context.Context, Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := s.access().connect(ctx, "")
	if err != nil {
		return err
	}
	defer conn.Client.Close()
	return f(ctx, conn)
}

// Sweep implements [design.Service]: it removes the buckets, and returns the number of their entries.
func (s *Server) Sweep(ctx context.Context, prefix string) (removed int, err error) {
	remove := func(ctx context.Context, on Conn) (err error) {
		found := on.JetStream.KeyValueStores(ctx)
		for one := range found.Status() {
			if of := one.Metadata()[prefixLabel]; strings.HasPrefix(of, prefix) {
				removed += int(one.Values())
				err = errors.Join(err, on.JetStream.DeleteKeyValue(ctx, one.Bucket()))
			}
		}
		return errors.Join(err, found.Error())
	}
	err = s.created.Sweep(prefix, func() error { return s.with(ctx, remove) })
	return removed, err
}

// Runs implements [design.Listed]. An entry was used when it was last written.
func (s *Server) Runs(ctx context.Context) ([]design.RunEntries, error) {
	runs := make(backend.Runs)
	err := s.with(ctx, func(ctx context.Context, on Conn) error {
		found := on.JetStream.KeyValueStores(ctx)
		for one := range found.Status() {
			status, is := one.(*jetstream.KeyValueBucketStatus)
			if !is {
				continue
			}
			info := status.StreamInfo()
			last := info.State.LastTime
			if last.Before(info.Created) { // nothing was written
				last = info.Created
			}
			runs.Add(one.Metadata()[prefixLabel], int(one.Values()), info.TimeStamp.Sub(last))
		}
		return found.Error()
	})
	return runs.Sorted(), err
}
