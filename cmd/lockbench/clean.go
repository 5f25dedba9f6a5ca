package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
)

func newClean() *cobra.Command {
	var server string
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "clean --server URL",
		Short: "Remove what killed runs left on a server",
		Long: `clean removes what begins with lockbench:, eight hexadecimal digits and a colon: keys of Redis and
etcd, tables of MariaDB, nodes of ZooKeeper, buckets of NATS, and schemas of PostgreSQL, without
the last colon. A run removes its own itself, unless it is killed.

What a run may use is left: on Redis what was read or written within --idle, on MariaDB and NATS,
and of records on ZooKeeper, what was written within it. Nobody knows when a schema of PostgreSQL,
a key of etcd or a lock of ZooKeeper was used, so these are left.
--idle 0s removes everything: give it while no run is under way.`,
		Example: `  lockbench clean --server redis://localhost:6379
  lockbench clean --server postgres://user:password@localhost/database`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := cleaned(cmd.Context(), server, idle)
			for _, c := range found {
				fmt.Fprintln(cmd.OutOrStdout(), c)
			}
			if err == nil && len(found) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no run left anything there: nothing to remove")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "`URL` of the server, as for run")
	cmd.Flags().DurationVar(&idle, "idle", 10*time.Minute, "time after which a run whose entries nobody used counts as ended")
	return cmd
}

// cleaned cleans the server at url.
func cleaned(ctx context.Context, url string, idle time.Duration) (found []backend.Cleaned, err error) {
	if url == "" {
		return nil, errors.New("no server named; hint: --server redis://host:port")
	}
	all := []design.Backend{servers.Redis{}}
	for _, d := range impls.All() {
		all = append(all, servers.BackendOf(&d))
	}
	all = append(all, adapter.Backends()...)
	i := slices.IndexFunc(all, func(b design.Backend) bool { return b.Serves(url) })
	if i < 0 {
		scheme, _, _ := strings.Cut(url, "://")
		return nil, fmt.Errorf("server %s://...: lockbench knows no such service; hint: its scheme says what it is, as in redis://localhost:6379", scheme)
	}
	opened, err := all[i].Open(ctx, []string{url}, 1)
	if err != nil {
		return nil, err
	}
	found, err = backend.Clean(ctx, opened[0], idle)
	return found, errors.Join(err, opened[0].Close())
}
