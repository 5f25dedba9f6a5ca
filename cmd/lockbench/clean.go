package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/service/servers"
)

func newClean() *cobra.Command {
	var server string
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "clean --server URL",
		Short: "Remove the keys that killed runs left on a server",
		Long: `clean removes the keys of a run (lockbench:, eight hexadecimal digits, a colon) if none of them
was used for --idle. A run removes its keys itself, unless it is killed.`,
		Example: "  lockbench clean --server redis://localhost:6379",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := servers.Clean(cmd.Context(), server, idle)
			for _, r := range found {
				fmt.Fprintln(cmd.OutOrStdout(), r)
			}
			if err == nil && len(found) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no run left keys there: nothing to remove")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "`URL` of the server, as for run: redis://, rediss:// or unix://")
	cmd.Flags().DurationVar(&idle, "idle", 10*time.Minute, "time after which a run with unused keys counts as ended")
	return cmd
}
