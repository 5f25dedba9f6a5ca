package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/service/replylimit"
)

// A Server is one Redis (or Valkey, or miniredis), or a Redis Cluster, that answered when lockbench
// connected to it or started it. Its methods are safe for concurrent use.
type Server struct {
	kind    string
	version string
	address string
	options redis.Options
	// sentinels give its address; nil if the address is fixed.
	sentinels *sentinels
	cluster   *cluster // nil for one server
	tag       string   // suffix of keys for this part of a cluster: a hash tag; empty for one server
	secrets   []string // passwords, which no message may repeat

	stop   func() error    // ends a server that we started; nil for an external server
	closed func() error    // stop, once
	done   <-chan struct{} // closed when a child ended by itself
	why    func() error    // reason of its end, once done is closed
	own    *ownProcess     // of a private server; nil for others
}

func newServer(kind string, options redis.Options) *Server {
	s := &Server{
		kind:    kind,
		address: addressOf(&options),
		options: options,
		secrets: []string{options.Password},
		done:    make(chan struct{}),
	}
	s.closed = sync.OnceValue(func() error {
		if s.stop == nil {
			return nil
		}
		return s.stop()
	})
	return s
}

var (
	_ design.Service   = (*Server)(nil)
	_ design.Mortal    = (*Server)(nil)
	_ design.Metered   = (*Server)(nil)
	_ design.Neighbour = (*Server)(nil)
	_ design.Watched   = (*Server)(nil)
	_ design.Keeper    = (*Server)(nil)
	_ design.Divided   = (*Server)(nil)
	_ design.Remote    = (*Server)(nil)
	_ design.Restarter = (*Server)(nil)
	_ design.Suspender = (*Server)(nil)
)

// Kind implements [design.Service]: an embedded server is miniredis.
func (s *Server) Kind() string { return s.kind }

// Version returns product and version, such as "redis 7.0.15".
func (s *Server) Version() string { return s.version }

// Address returns the address of the server, as a URL without user and password.
func (s *Server) Address() string { return s.address }

// Local reports whether the server is another process on this machine, judged by its address.
func (s *Server) Local() bool {
	if s.kind == design.Embedded {
		return false
	}
	if s.cluster != nil && slices.ContainsFunc(s.cluster.addresses(), func(addr string) bool { return !IsLoopback(addr) }) {
		return false
	}
	return s.options.Network == "unix" || IsLoopback(s.options.Addr)
}

// IsLoopback reports whether an address, a host and a port, is of this machine.
func IsLoopback(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Remote implements [design.Remote].
func (s *Server) Remote() {}

// Ping implements [design.Service]. All parts of a cluster must answer.
func (s *Server) Ping(ctx context.Context) error {
	for _, part := range s.known() {
		if err := part.ping(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) ping(ctx context.Context) error {
	client := s.single()
	defer client.Close()
	err := client.Ping(ctx).Err()
	if isReply(err, "NOPERM") { // it answers
		return nil
	}
	return err
}

// Ask implements [design.Prompt].
func (s *Server) Ask() (ask func(ctx context.Context) error, close func() error) {
	var clients []*redis.Client
	for _, part := range s.known() {
		clients = append(clients, part.single())
	}
	ask = func(ctx context.Context) (err error) {
		for _, client := range clients {
			err = cmp.Or(err, client.Ping(ctx).Err())
		}
		return err
	}
	return ask, func() (err error) {
		for _, client := range clients {
			err = errors.Join(err, client.Close())
		}
		return err
	}
}

// Done returns a channel that is closed when a server that we started ended without being told to;
// [Server.Err] then returns the reason. It is never closed for other servers.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns the reason why the server ended by itself, nil while Done is open.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.why()
	default:
		return nil
	}
}

// Close ends a server that we started, waits for its end and removes its files. It leaves an
// external server alone, but closes connections to its sentinels. Calls after the first, also
// concurrent ones, wait for the first and return its error.
func (s *Server) Close() error { return s.closed() }

// Reach is the way for a process of a design to the server; see [onredis.Server].
func (s *Server) Reach() any { return onredis.Server{Options: s.Options(), Nodes: s.nodes()} }

// nodes are the addresses of a cluster, nil for one server.
func (s *Server) nodes() []string {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.addresses()
}

// Options returns a fresh copy of the client options for this server. The caller sizes the pool.
func (s *Server) Options() *redis.Options {
	opt := s.options
	if opt.TLSConfig != nil {
		opt.TLSConfig = opt.TLSConfig.Clone()
	}
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if opt.Dialer == nil {
		opt.Dialer = limitedDialer(&opt)
	}
	return &opt
}

// limitedDialer returns the dialer of opt, with a limit on the size of replies.
func limitedDialer(opt *redis.Options) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := redis.NewDialer(opt)
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return replylimit.Conn(conn), nil
	}
}

// tune sets options that every client of a lock under test needs, whatever the URL says.
func tune(opt redis.Options) redis.Options {
	// A silent re-send after a lost reply would turn a client's own grant into a refusal.
	opt.MaxRetries = -1
	// A dial error is reported at once, without another try.
	opt.DialerRetries = 1
	opt.DisableIdentity = true
	// Clients hang up when their context ends; a server that stopped answering yields unknown
	// outcomes in bounded time.
	opt.ContextTimeoutEnabled = true
	opt.DialTimeout = orDefault(opt.DialTimeout, 2*time.Second)
	opt.ReadTimeout = orDefault(opt.ReadTimeout, 5*time.Second)
	opt.WriteTimeout = orDefault(opt.WriteTimeout, 5*time.Second)
	if opt.Protocol == 0 {
		opt.Protocol = 2
	}
	return opt
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// addressOf formats the address of opt as a URL without secrets.
func addressOf(opt *redis.Options) string {
	scheme, database := "redis", ""
	if opt.DB != 0 {
		database = fmt.Sprintf("/%d", opt.DB)
	}
	switch {
	case opt.Network == "unix":
		scheme, database = "unix", strings.Replace(database, "/", "?db=", 1)
	case opt.TLSConfig != nil:
		scheme = "rediss"
	}
	return scheme + "://" + opt.Addr + database
}
