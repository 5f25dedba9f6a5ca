package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// Backend is the backend of designs on ZooKeeper.
type Backend struct{}

const scheme = "zk://"

// Name implements [design.Backend].
func (Backend) Name() string { return "zookeeper" }

// Offers implements [design.Backend].
func (Backend) Offers() design.Service { return &Server{version: "ZooKeeper"} }

// Serves implements [design.Backend].
func (Backend) Serves(address string) bool { return strings.HasPrefix(address, scheme) }

// Missing implements [design.Installed].
func (Backend) Missing() error { return Missing() }

// Open implements [design.Backend].
func (Backend) Open(ctx context.Context, addresses []string, n int) ([]design.Service, error) {
	return backend.Open(ctx, addresses, n, Connect, Start)
}

// A Server is one ZooKeeper that answered when lockbench connected to it or started it. Its methods are
// safe for concurrent use.
type Server struct {
	*daemon.Daemon // nil for a server of the user's; sessions and nodes survive its restart
	kind, version  string
	address        string // host and port
	root           string // the node below which everything is, "" or "/name"
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
	_ design.Suspender = (*Server)(nil)
)

// Connect connects to a server of the user's.
func Connect(ctx context.Context, address string) (*Server, error) {
	const form = "hint: zk://HOST:PORT, or zk://HOST:PORT/NODE for everything to be below a node"
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("server address cannot be parsed; " + form)
	case u.User != nil:
		return nil, errors.New("server address has a user, and lockbench does not log in to a ZooKeeper; " + form)
	case u.Host == "" || strings.Contains(u.Host, ",") || u.RawQuery != "":
		return nil, fmt.Errorf("server address %s is not of one server; %s", address, form)
	}
	const defaultPort = "2181"
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), defaultPort)
	}
	s := &Server{kind: design.External, address: u.Host, root: strings.TrimSuffix(u.Path, "/"), version: "zookeeper"}
	if err := s.Ping(ctx); err != nil {
		return nil, fmt.Errorf("server %s: %w; hint: does it run there?", s.Address(), err)
	}
	return s, nil
}

// Kind implements [design.Service].
func (s *Server) Kind() string { return s.kind }

// Version implements [design.Service].
func (s *Server) Version() string { return s.version }

// Address implements [design.Service].
func (s *Server) Address() string { return scheme + s.address + s.root }

// Durable implements [design.Durable].
func (s *Server) Durable() {}

// Prolongs implements [design.Prolonger]: the time-outs of all sessions begin anew.
func (s *Server) Prolongs() time.Duration { return 0 }

// Remote implements [design.Remote].
func (s *Server) Remote() {}

// Endpoint implements [design.Networked].
func (s *Server) Endpoint() string { return s.address }

// Local implements [design.Neighbour].
func (s *Server) Local() bool { return servers.IsLoopback(s.address) }

// Reach implements [design.Service].
func (s *Server) Reach() any {
	dialer := &net.Dialer{Timeout: dialTimeout}
	return &Access{server: s, dial: dialer.DialContext}
}

// Check implements [design.Service]: a run creates nodes below the root.
func (s *Server) Check(ctx context.Context, _ []string) error {
	return s.with(ctx, func(ctx context.Context, c *conn) error {
		_, err := s.now(ctx, c)
		return err
	})
}

// now returns the time of the server. It creates a node for that, and deletes it.
func (s *Server) now(ctx context.Context, c *conn) (now time.Time, err error) {
	path := fmt.Sprintf("%s/lockbench-check-%d", s.root, time.Now().UnixNano())
	if err := c.create(ctx, path, nil); err != nil {
		return now, fmt.Errorf("server %s: create a node: %w; hint: a user may name a node where anybody may create some: zk://HOST:PORT/NODE", s.Address(), err)
	}
	_, of, err := c.get(ctx, path)
	_, removed := c.remove(ctx, path)
	return of.written, errors.Join(err, removed)
}

// Ping implements [design.Service].
func (s *Server) Ping(ctx context.Context) error {
	return s.with(ctx, ping)
}

func ping(ctx context.Context, c *conn) error {
	_, err := c.do(ctx, opPing, nil)
	return err
}

// Ask implements [design.Prompt].
func (s *Server) Ask() (ask func(ctx context.Context) error, close func() error) {
	return backend.Asked(s.connect, ping, (*conn).close)
}

// connect opens a session. The caller closes it.
func (s *Server) connect(ctx context.Context) (*conn, error) {
	to, err := s.Reach().(*Access).DialServer(ctx)
	if err != nil {
		return nil, err
	}
	return newConn(ctx, to)
}

// with calls f with a session of its own.
func (s *Server) with(ctx context.Context, f func(context.Context, *conn) error) error {
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	return f(ctx, c)
}

// Sweep implements [design.Service]: it deletes the nodes right below the root whose names begin with
// prefix, and all below them.
func (s *Server) Sweep(ctx context.Context, prefix string) (removed int, err error) {
	err = s.with(ctx, func(ctx context.Context, c *conn) error {
		names, err := c.children(ctx, cmp.Or(s.root, "/"))
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				n, failed := c.remove(ctx, s.root+"/"+name)
				removed, err = removed+n, errors.Join(err, failed)
			}
		}
		return err
	})
	return removed, err
}

// Runs implements [design.Listed]. A record was used when it was last written. Below the node of a lock
// others come and go, and ZooKeeper does not tell when.
func (s *Server) Runs(ctx context.Context) ([]design.RunEntries, error) {
	runs, notes := make(backend.Runs), make(map[string]string)
	err := s.with(ctx, func(ctx context.Context, c *conn) error {
		names, err := c.children(ctx, cmp.Or(s.root, "/"))
		names = slices.DeleteFunc(names, func(name string) bool { return backend.Prefix(name) == "" })
		if err != nil || len(names) == 0 {
			return err
		}
		now, err := s.now(ctx, c)
		for _, name := range names {
			prefix := backend.Prefix(name)
			if !strings.HasPrefix(name, prefix+recordName) && notes[prefix] == "" {
				notes[prefix] = "ZooKeeper does not tell when locks were used (--idle 0s removes them)"
			}
			if err == nil {
				err = c.walk(ctx, s.root+"/"+name, func(of stat) {
					runs.Add(name, 1, max(0, now.Sub(of.written)))
					if of.ephemeral {
						notes[prefix] = "a session is open"
					}
				})
			}
		}
		return err
	})
	all := runs.Sorted()
	for i := range all {
		if all[i].Note = notes[all[i].Prefix]; all[i].Note != "" {
			all[i].Idle = 0
		}
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
	return &Access{server: a.server, dial: wrap(a.dial)}
}

// DialServer implements [design.Addressed].
func (a *Access) DialServer(ctx context.Context) (net.Conn, error) {
	return a.dial(ctx, "tcp", a.server.address)
}

// URL implements [design.Addressed].
func (a *Access) URL(via string) string { return scheme + via + a.server.root }
