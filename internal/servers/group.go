package servers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/history"
)

// A Group is the servers of a run, which know nothing of each other. Designs for one
// server lock on the first, where the guarded store is, too; those for several use as
// many as they need. It has one server at least.
type Group []*Server

// ChooseGroup returns n servers: those at urls, when there are any; else private ones,
// when PATH has a program for them; else embedded ones. Fewer urls than n, or two that
// lead to one server, are an error, since a majority of one server is none; so is one
// that does not work. More urls than n are connected to all the same.
func ChooseGroup(ctx context.Context, urls []string, n int) (Group, error) {
	if len(urls) > 0 {
		return connectGroup(ctx, urls, n)
	}
	var g Group
	for range n {
		s, err := Choose(ctx, "")
		if err != nil {
			return nil, errors.Join(err, g.Close())
		}
		g = append(g, s)
	}
	return g, nil
}

func connectGroup(ctx context.Context, urls []string, n int) (Group, error) {
	if len(urls) < n {
		return nil, fmt.Errorf("a design locks on %d servers, %d given; hint: give --redis %d times, once for each, or not at all for private ones", n, len(urls), n)
	}
	var g Group
	for _, url := range urls {
		s, err := Connect(ctx, url)
		if err != nil {
			return nil, err
		}
		g = append(g, s)
	}
	return g, g.apart(ctx)
}

// apart returns an error when two of the servers are one, as far as they tell.
func (g Group) apart(ctx context.Context) error {
	seen := map[string]*Server{}
	for _, s := range g {
		id := s.runID(ctx)
		if other := seen[id]; other != nil && id != "" {
			return fmt.Errorf("servers %s and %s are one and the same; hint: name %d servers that run apart", other.address, s.address, len(g))
		}
		seen[id] = s
	}
	return nil
}

// runID is what no two running servers share, empty where this one does not tell.
func (s *Server) runID(ctx context.Context) string {
	client := s.single()
	defer client.Close()
	info, err := serverInfo(ctx, client)
	if err != nil {
		return ""
	}
	return info["run_id"]
}

// First is the server that has the guarded store, and on which designs for one lock.
func (g Group) First() *Server { return g[0] }

// For returns the first n of the servers, all when there are not so many.
func (g Group) For(n int) Group { return g[:min(n, len(g))] }

// Close closes all, and joins their errors.
func (g Group) Close() error {
	var errs []error
	for _, s := range g {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Check is that of every server, see [Server.Check].
func (g Group) Check(ctx context.Context, commands []string) error {
	for _, s := range g {
		if err := s.Check(ctx, commands); err != nil {
			return err
		}
	}
	return nil
}

// Sweep is that of every server, see [Server.Sweep]: it goes on after an error, and
// returns how many keys there were on all.
func (g Group) Sweep(ctx context.Context, prefix string) (int, error) {
	var errs []error
	all := 0
	for _, s := range g {
		n, err := s.Sweep(ctx, prefix)
		all, errs = all+n, append(errs, err)
	}
	return all, errors.Join(errs...)
}

// Reach is how a process reaches every server, for [design.Environment.Services].
func (g Group) Reach() []any {
	var all []any
	for _, s := range g {
		all = append(all, s.Reach())
	}
	return all
}

// Info describes the group for the header of a history: kind and version of the first,
// the addresses of all, and how many they are.
func (g Group) Info() history.Server {
	info := g.First().Info()
	if len(g) == 1 {
		return info
	}
	var addresses []string
	for _, s := range g {
		addresses = append(addresses, s.address)
	}
	info.Address, info.Count = strings.Join(addresses, " "), len(g)
	return info
}
