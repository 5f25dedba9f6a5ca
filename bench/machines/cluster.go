//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/results"
)

// killServers kills a server of a NATS cluster in each of so many runs, and suspends one in as many others.
func (b *bench) killServers(ctx context.Context, times int) error {
	for _, do := range []struct {
		what string
		to   func(*process) error
	}{
		{"killed", func(p *process) error { return p.Kill() }},
		{"suspended", func(p *process) error { return p.Suspend() }},
	} {
		wrongBefore, connected := b.wrong, 0
		for range times {
			clients, err := b.withCluster(ctx, do.what, do.to)
			if err != nil {
				return err
			}
			connected += clients
		}
		fmt.Printf("servers of a NATS cluster %s: %d, wrong: %d\n", do.what, times, b.wrong-wrongBefore)
		fmt.Printf("  connections that this ended: %d of %d\n", connected, times*(machines+1))
	}
	return nil
}

// withCluster starts a cluster, makes a run by it in which do is called for a server, and judges the run. It
// returns the number of clients of that server.
func (b *bench) withCluster(
	ctx context.Context, what string, do func(*process) error,
) (clients int, err error) {
	const servers = 3
	cluster, err := startCluster(ctx, servers)
	defer func() {
		for _, m := range cluster {
			if m.process != nil {
				_ = m.process.Kill() // it may have been killed
				<-m.process.done
			}
		}
	}()
	if err != nil {
		return 0, err
	}
	var urls []string
	for _, m := range cluster {
		urls = append(urls, "nats://"+m.Address)
	}
	t, err := b.start(killLength, fully, strings.Join(urls, ","))
	if err != nil {
		return 0, err
	}
	clients, after, wrong := killServer(ctx, t, cluster, do)
	if err := errors.Join(t.end(), ctx.Err()); err != nil {
		return 0, err
	}
	b.judge(t, fmt.Sprintf("server of %d clients %s after %v", clients, what, after), wrong)
	return clients, nil
}

// killServer calls do for the server that most of the coordinator and the agents are connected to.
func killServer(
	ctx context.Context, t *team, cluster []*member, do func(*process) error,
) (clients int, after time.Duration, err error) {
	if after, err = t.moment(ctx); err != nil {
		return clients, after, err
	}
	var most *member
	for _, m := range cluster {
		is, err := m.state(ctx)
		if err != nil {
			return clients, after, err
		}
		if most == nil || is.Connections > clients {
			most, clients = m, is.Connections
		}
	}
	if err := do(most.process); err != nil {
		return clients, after, err
	}
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	code, err := t.coordinator.exit(ctx)
	if err == nil && code != 0 && code != results.Inconclusive {
		err = fmt.Errorf("exit %d of the coordinator:\n%s", code, t.coordinator.said.Tail())
	}
	for _, a := range t.agents {
		err = errors.Join(err, a.want(ctx, "agent", 0))
	}
	r, unread := report(t.dir)
	if unread == nil && (r.Partial || r.Error != "") {
		unread = fmt.Errorf("partial: %t; %s; %s", r.Partial, r.Why, r.Error)
	}
	return clients, after, errors.Join(err, unread)
}
