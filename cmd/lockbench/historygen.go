package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/internal/synthetic"
)

// genOptions are the flags of history gen.
type genOptions struct {
	synthetic.Config
	format string
}

func newHistoryGen() *cobra.Command {
	o := genOptions{Config: synthetic.Usual()}
	cmd := &cobra.Command{
		Use:   "gen FILE",
		Short: "Make up a history of any length, with known violations",
		Long: `gen makes up the history of a lock that does nothing wrong, except that it grants a
key to a second owner as often as --violations says, and prints where. Clients
acquire, extend and release side by side, are refused, outlive their leases, and of a
share of their operations never hear what came of them. Equal flags make equal files.

It shows what check finds, how long it takes and how much memory; no lock is tested.`,
		Example: `  lockbench history gen long.lbh --ops 100000000 --violations 3 --seed 5
  lockbench check long.lbh`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d files given; hint: lockbench history gen FILE", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.generate(cmd.OutOrStdout(), args[0]) },
	}
	f := cmd.Flags()
	f.Int64Var(&o.Ops, "ops", o.Ops, "how many `operations`")
	f.Int64Var(&o.Violations, "violations", o.Violations, "how many `times` two owners hold one key within their validity")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "what all choices are drawn from")
	f.IntVar(&o.Clients, "clients", o.Clients, "how many clients")
	f.IntVar(&o.Keys, "keys", o.Keys, "how many keys")
	f.Float64Var(&o.Unknown, "unknown", o.Unknown, "the `share` of operations whose outcome is unknown, 0 to 0.95")
	f.DurationVar(&o.TTL, "ttl", o.TTL, "the lease")
	f.StringVar(&o.format, "format", "native", "native or jsonl")
	return cmd
}

// generate writes the history to path, and what is wrong with it to out.
func (o *genOptions) generate(out io.Writer, path string) error {
	if err := o.Validate(); err != nil {
		return err
	}
	begin, known := map[string]func(io.Writer, history.Header) (*history.Writer, error){
		"native": history.NewWriter, "jsonl": history.NewJSONLWriter,
	}[o.format]
	if !known {
		return fmt.Errorf("--format: %w", suggest.Unknown("format", o.format, []string{"native", "jsonl"}))
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("%w; hint: name a file in a folder that exists", err)
	}
	w, err := begin(f, o.Header())
	if err != nil {
		return errors.Join(err, f.Close())
	}
	planted, end, err := synthetic.Generate(o.Config, w)
	if err == nil {
		err = w.Close(end)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	fmt.Fprintf(out, "%s: %d operations, %d violations of exclusion\n", path, o.Ops, len(planted))
	for _, v := range planted {
		fmt.Fprintf(out, "  %v  key %s: clients %d and %d\n", time.Duration(v.At), v.Key, v.First, v.Second)
	}
	return nil
}
