package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/evidence"
	"github.com/lockbench/lockbench/internal/evidence/choosing"
)

func newChoose() *cobra.Command {
	var c choosing.Case
	var conditions []string
	var own commandFlags
	cmd := &cobra.Command{
		Use:   "choose",
		Short: "Choose a lock for a case, by the findings of the released matrix",
		Long: `choose asks about the use of a lock, and answers with the designs that fit, the best first: how
to use them, the evidence, and the commands that check it. Flags answer questions in advance.
The evidence is the released matrix; see docs/matrix.md. It has no lock of an adapter: of such a
lock choose says only how to check it.`,
		Example: `  lockbench choose
  lockbench choose --if-two-hold damage --work 200ms --service redis --waiters 8
  lockbench choose --adapter 'python3 my_lock.py' --work 50ms`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := cmd.Flags()
			locks, err := own.with(cmd.Context(), nil, true)
			if err != nil {
				return err
			}
			asked := f.Changed("conditions")
			if err := choosing.Ask(cmd.InOrStdin(), cmd.ErrOrStderr(), f.Changed, f.Set); err != nil {
				return err
			}
			if c.Over, err = evidence.Conditions(conditions); err != nil {
				return err
			}
			c.Unasked = !asked && slices.Equal(conditions, choosing.UsualConditions())
			if err := c.Check(locks...); err != nil {
				return err
			}
			return choosing.Write(cmd.OutOrStdout(), c, choosing.Choose(c, locks...))
		},
	}
	f := cmd.Flags()
	f.StringVar((*string)(&c.Harm), "if-two-hold", "", "`waste` if two holders only do work twice, damage if they leave wrong data")
	f.DurationVar(&c.Work, "work", 0, "usual duration of the work under the lock")
	f.StringVar((*string)(&c.Service), "service", "", "`name` of the service that keeps the lock: redis, replicas (a server with replicas that take over), cluster (a Redis Cluster), quorum, files, nats, postgres or mariadb")
	f.IntVar(&c.Waiters, "waiters", 0, "number of clients that want one key at the same time")
	f.StringSliceVar(&conditions, "conditions", nil, "`names` of the conditions that can occur, or all, or none")
	own.addAdapter(f)
	return cmd
}
