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

// killServers kills a server of a NATS cluster in each of so many runs.
func (b *bench) killServers(ctx context.Context, times int) error {
	wrongBefore := b.wrong
	for range times {
		if err := b.withCluster(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("servers of a NATS cluster killed: %d, wrong: %d\n", times, b.wrong-wrongBefore)
	return nil
}

// withCluster starts a cluster, makes a run by it, and judges that.
func (b *bench) withCluster(ctx context.Context) error {
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
		return err
	}
	var urls []string
	for _, m := range cluster {
		urls = append(urls, "nats://"+m.Address)
	}
	t, err := b.start(killLength, strings.Join(urls, ","))
	if err != nil {
		return err
	}
	clients, after, wrong := killServer(ctx, t, cluster)
	if err := errors.Join(t.end(), ctx.Err()); err != nil {
		return err
	}
	b.judge(t, fmt.Sprintf("server of %d clients killed after %v", clients, after), wrong)
	return nil
}

// killServer kills the server that most of the coordinator and the agents are connected to.
func killServer(ctx context.Context, t *team, cluster []*member) (clients int, after time.Duration, err error) {
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
	if err := most.process.Kill(); err != nil {
		return clients, after, fmt.Errorf("kill: %w", err)
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
