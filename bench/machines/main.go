//go:build linux

// Command machines measures runs of a coordinator and two agents on this machine, and kills agents,
// coordinators and servers of a NATS cluster in such runs. See machines.sh.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"

	"github.com/lockbench/lockbench/bench/commands"
	"github.com/lockbench/lockbench/internal/service/servers"
)

func main() {
	rounds := flag.Int("rounds", 5, "number of pairs of runs that are compared")
	kills := flag.Int("kills", 20, "number of agents that are killed, and of coordinators")
	cluster := flag.Int("cluster", 5, "number of runs in which a server of a NATS cluster is killed")
	least := flag.Float64("least", 0.9, "smallest ratio of the rates that is right")
	flag.Parse()
	if flag.NArg() > 0 || *rounds < 0 || *kills < 0 || *cluster < 0 {
		fmt.Fprintln(os.Stderr, "machines: no arguments and no negative numbers are wanted; hint: bench/machines.sh")
		os.Exit(2)
	}
	servers.SilenceClients()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *rounds, *kills, *cluster, *least)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "machines:", err)
		os.Exit(1)
	}
}

// A bench has the files and the server of all runs.
type bench struct {
	program   string // lockbench
	server    string // URL of the Redis server
	private   bool   // runs have servers of their own
	restarted bool   // these are restarted
	dir       string // has a folder for each run
	runs      atomic.Int64
	wrong     int // runs that something is wrong with
}

func run(ctx context.Context, rounds, kills, cluster int, least float64) (err error) {
	builder, err := commands.NewBuilder(ctx, nil)
	if err != nil {
		return err
	}
	defer builder.Close()
	redis, address, err := startRedis(ctx)
	if err != nil {
		return err
	}
	defer redis.Close()
	b := &bench{program: builder.Program(), server: "redis://" + address}
	if b.dir, err = os.MkdirTemp("", "machines-"); err != nil {
		return err
	}
	slow, err := b.compareAll(ctx, rounds, least)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		times int
		do    func(context.Context, int) error
	}{{kills, b.killAgents}, {kills, b.killCoordinators}, {cluster, b.killServers}} {
		if part.times == 0 {
			continue
		}
		if err := part.do(ctx, part.times); err != nil {
			return err
		}
	}
	if b.wrong > 0 {
		return errors.Join(slow, fmt.Errorf("%d runs are wrong; their files are in %s", b.wrong, b.dir))
	}
	return errors.Join(slow, os.RemoveAll(b.dir))
}

// judge prints the reason why a run is wrong, and removes the files of others.
func (b *bench) judge(t *team, what string, wrong error) {
	if wrong == nil {
		_ = os.RemoveAll(t.dir) // b.dir is removed later
		return
	}
	b.wrong++
	fmt.Printf("  wrong: %s: %v (%s)\n", what, wrong, filepath.Base(t.dir))
}
