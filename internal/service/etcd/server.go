package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// Backend is the backend of locks on etcd.
type Backend struct{}

// Name implements [design.Backend].
func (Backend) Name() string { return "etcd" }

// Offers implements [design.Backend].
func (Backend) Offers() design.Service { return &Server{version: "etcd"} }

// scheme begins the address of a server.
const scheme = "etcd"

// Serves implements [design.Backend].
func (Backend) Serves(address string) bool { return strings.HasPrefix(address, scheme+"://") }

// Missing implements [design.Installed].
func (Backend) Missing() error { return Missing() }

// Open implements [design.Backend].
func (Backend) Open(ctx context.Context, addresses []string, n int) ([]design.Service, error) {
	return backend.Open(ctx, addresses, n, Connect, Start)
}

// A Server is one etcd that answered when lockbench connected to it or started it. Its methods are safe
// for concurrent use.
type Server struct {
	*daemon.Daemon // nil for a server of the user's; committed keys survive its restart, and leases begin again
	kind, version  string
	host           string        // and port
	user           *url.Userinfo // nil if it asks for none
	own            *private      // likewise
	members        []*private    // that were added to it
}

var (
	_ design.Service   = (*Server)(nil)
	_ design.Mortal    = (*Server)(nil)
	_ design.Neighbour = (*Server)(nil)
	_ design.Prompt    = (*Server)(nil)
	_ design.Keeper    = (*Server)(nil)
	_ design.Listed    = (*Server)(nil)
	_ design.Networked = (*Server)(nil)
	_ design.Prolonger = (*Server)(nil)
	_ design.Elector   = (*Server)(nil)
	_ design.Suspender = (*Server)(nil)

	_ design.SessionEnder = (*Server)(nil)
)

const usualPort = "2379"

// parse returns the server at an address, to which nobody has connected.
func parse(address string) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil {
		var why *url.Error // whose text has the password
		if errors.As(err, &why) {
			err = why.Err
		}
		return nil, fmt.Errorf("server: address: %w; hint: %s://USER:PASSWORD@HOST:%s", err, scheme, usualPort)
	}
	if u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("server %s: it is not the host of an etcd alone; hint: %s://USER:PASSWORD@HOST:%s", u.Redacted(), scheme, usualPort)
	}
	port := u.Port()
	if port == "" {
		port = usualPort
	}
	return &Server{kind: design.External, host: net.JoinHostPort(u.Hostname(), port), user: u.User}, nil
}

// Connect connects to a server of the user's, without TLS.
func Connect(ctx context.Context, address string) (*Server, error) {
	s, err := parse(address)
	if err == nil {
		err = s.identify(ctx)
	}
	if err == nil {
		err = s.Ping(ctx)
	}
	if err != nil && s != nil {
		err = fmt.Errorf("server %s: %w; hint: does an etcd 3.4 or later run there, and speak HTTP without TLS?", s.Address(), err)
	}
	return s, err
}

// identify sets the version.
func (s *Server) identify(ctx context.Context) error {
	c := s.client()
	defer c.close()
	var got struct{ EtcdServer string }
	err := c.send(ctx, http.MethodGet, "/version", "", nil, &got)
	if err == nil && got.EtcdServer == "" {
		err = errors.New("it does not say its version as etcd does")
	}
	s.version = "etcd " + got.EtcdServer
	return err
}

// client returns a client, which the caller closes.
func (s *Server) client() *client { return newClient(s.host, s.user, dialTCP) }

var dialTCP design.Dial = (&net.Dialer{Timeout: dialTimeout}).DialContext

// Kind implements [design.Service].
func (s *Server) Kind() string { return s.kind }

// Version implements [design.Service].
func (s *Server) Version() string { return s.version }

// Address implements [design.Service].
func (s *Server) Address() string { return scheme + "://" + s.host }

// Durable implements [design.Durable].
func (s *Server) Durable() {}

// Prolongs implements [design.Prolonger]: the time-outs of all sessions begin anew.
func (s *Server) Prolongs() time.Duration { return 0 }

// Remote implements [design.Remote].
func (s *Server) Remote() {}

// Endpoint implements [design.Networked].
func (s *Server) Endpoint() string { return s.host }

// Local implements [design.Neighbour].
func (s *Server) Local() bool { return servers.IsLoopback(s.host) }

// Reach implements [design.Service].
func (s *Server) Reach() any { return &Access{server: s, dial: dialTCP} }

// common begins the prefixes of all runs.
const common = "lockbench:"

// Check implements [design.Service]: a run reads and writes keys that begin with its prefix.
func (s *Server) Check(ctx context.Context, _ []string) error {
	c := s.client()
	defer c.close()
	all := below(common)
	_, err := c.transact(ctx, transaction{
		If:   []condition{{Key: all.Key, Target: "MOD", Result: "LESS"}}, // than zero, which none is
		Then: []operation{{Range: &all}, {Delete: &all}},
	})
	var refused *refusal
	if errors.As(err, &refused) {
		return fmt.Errorf("server %s: %w; hint: a run needs the keys that begin with %s: etcdctl role grant-permission ROLE --prefix=true readwrite %[3]s", s.Address(), err, common)
	}
	return err
}

// Ping implements [design.Service].
func (s *Server) Ping(ctx context.Context) error {
	c := s.client()
	defer c.close()
	return c.healthy(ctx)
}

// Ask implements [design.Prompt].
func (s *Server) Ask() (ask func(ctx context.Context) error, close func() error) {
	c := s.client()
	return c.healthy, func() error {
		c.close()
		return nil
	}
}

// Sweep implements [design.Service].
func (s *Server) Sweep(ctx context.Context, prefix string) (removed int, err error) {
	c := s.client()
	defer c.close()
	var got struct {
		Deleted int `json:",string"` // left out if zero
	}
	err = c.call(ctx, "/v3/kv/deleterange", below(prefix), &got)
	return got.Deleted, err
}

// Runs implements [design.Listed]. etcd does not tell when a key was used.
func (s *Server) Runs(ctx context.Context) ([]design.RunEntries, error) {
	c := s.client()
	defer c.close()
	names, err := c.names(ctx, common)
	runs := make(backend.Runs)
	for _, name := range names {
		runs.Add(name, 1, 0)
	}
	all := runs.Sorted()
	for i := range all {
		all[i].Note = "etcd does not tell when they were used (--idle 0s removes them)"
	}
	return all, err
}

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
	return &Access{a.server, wrap(a.dial)}
}

// DialServer implements [design.Addressed].
func (a *Access) DialServer(ctx context.Context) (net.Conn, error) {
	return a.dial(ctx, "tcp", a.server.host)
}

// URL implements [design.Addressed].
func (a *Access) URL(via string) string {
	return (&url.URL{Scheme: scheme, User: a.server.user, Host: via}).String()
}
