package servers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
)

// Redis is the backend of designs on Redis servers.
type Redis struct{}

var _ design.Backend = Redis{}

// Name implements [design.Backend].
func (Redis) Name() string { return "redis" }

// Offers implements [design.Backend].
func (Redis) Offers() design.Service { return &Server{} }

// BackendOf is the backend of a design: Redis, unless it names another.
func BackendOf(d *design.Design) design.Backend {
	if d.Backend == nil {
		return Redis{}
	}
	return d.Backend
}

// Serves implements [design.Backend]: an address without a scheme is a Redis address, too.
func (Redis) Serves(address string) bool {
	scheme, _, found := strings.Cut(address, "://")
	return !found || scheme == "redis" || scheme == "rediss" || scheme == "unix"
}

// Open implements [design.Backend]. Without addresses it starts private servers if PATH has a
// program, else embedded ones. Two addresses of one server are an error, because a majority
// needs different servers. It connects to all addresses, even to more than n.
func (Redis) Open(ctx context.Context, addresses []string, n int) ([]design.Service, error) {
	var g []*Server
	var err error
	if len(addresses) > 0 {
		g, err = connectAll(ctx, addresses, n)
	} else {
		g, err = startAll(ctx, n)
	}
	var all []design.Service
	for _, s := range g {
		all = append(all, s)
	}
	return all, err
}

// All returns services as Redis servers, nil if one of them is none.
func All(services []design.Service) (all []*Server) {
	for _, s := range services {
		server, ok := s.(*Server)
		if !ok {
			return nil
		}
		all = append(all, server)
	}
	return all
}

func startAll(ctx context.Context, n int) (g []*Server, err error) {
	for range n {
		s, err := Choose(ctx, "")
		if err != nil {
			for _, started := range g {
				err = errors.Join(err, started.Close())
			}
			return nil, err
		}
		g = append(g, s)
	}
	return g, nil
}

func connectAll(ctx context.Context, urls []string, n int) ([]*Server, error) {
	if len(urls) < n {
		return nil, fmt.Errorf("a design locks on %d servers, %d given; hint: give --server %d times, once for each, or not at all for private ones", n, len(urls), n)
	}
	var g []*Server
	for _, url := range urls {
		s, err := Connect(ctx, url)
		if err != nil {
			return nil, err
		}
		g = append(g, s)
	}
	return g, apart(ctx, g)
}

// apart returns an error if two of the servers are known to be the same.
func apart(ctx context.Context, g []*Server) error {
	seen := map[string]*Server{}
	for _, s := range g {
		if s.cluster != nil && len(g) > 1 {
			return fmt.Errorf("server %s is a Redis Cluster, and one of %d that are to know nothing of each other; hint: name servers that are no part of a cluster, or one cluster alone", s.address, len(g))
		}
		id := s.runID(ctx)
		if other := seen[id]; other != nil && id != "" {
			return fmt.Errorf("servers %s and %s are one and the same; hint: name %d servers that run apart", other.address, s.address, len(g))
		}
		seen[id] = s
	}
	return nil
}

// runID is the server's id, unique among running servers; empty if it does not tell.
func (s *Server) runID(ctx context.Context) string {
	client := s.known()[0].single()
	defer client.Close()
	info, err := serverInfo(ctx, client)
	if err != nil {
		return ""
	}
	return info["run_id"]
}
