package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/suggest"
	"github.com/lockbench/lockbench/internal/synthetic"
	"github.com/lockbench/lockbench/internal/wholefile"
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
		Short: "Generate a history of any length, with known violations",
		Long: `gen writes the history of a lock that does nothing wrong, except that it grants a key to a
second owner as often as --violations says, and prints where. Clients acquire, extend and
release side by side, are refused and outlive their leases. Some operations have no known
outcome. Equal flags make equal files.

The file shows what check finds, how long it takes and how much memory; no lock is tested.`,
		Example: `  lockbench history gen long.lbh --ops 100000000 --violations 3 --seed 5
  lockbench check long.lbh`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%d files given; hint: lockbench history gen FILE", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			defer endsAtOnce(cmd)()
			return o.generate(cmd.OutOrStdout(), args[0])
		},
	}
	f := cmd.Flags()
	f.Int64Var(&o.Ops, "ops", o.Ops, "number of `operations`")
	f.Int64Var(&o.Violations, "violations", o.Violations, "number of `times` that two owners hold one key within their validity (default 0)")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of all random choices")
	f.IntVar(&o.Clients, "clients", o.Clients, "number of clients")
	f.IntVar(&o.Keys, "keys", o.Keys, "number of keys")
	f.Float64Var(&o.Unknown, "unknown", o.Unknown, "`share` of operations whose outcome is unknown, 0 to 0.95 (default 0)")
	f.DurationVar(&o.TTL, "ttl", o.TTL, "lease that clients ask for")
	f.StringVar(&o.format, "format", "native", "form of the file: native or jsonl")
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
	var planted []synthetic.Violation
	err := wholefile.Write(path, func(f io.Writer) error {
		w, err := begin(f, o.Header())
		if err != nil {
			return err
		}
		var end history.End
		if planted, end, err = synthetic.Generate(o.Config, w); err != nil {
			return err
		}
		return w.Close(end)
	})
	if err != nil {
		return fmt.Errorf("%w; hint: name a file in a folder that exists", err)
	}
	fmt.Fprintf(out, "%s: %d operations, %d violations of exclusion\n", path, o.Ops, len(planted))
	for _, v := range planted {
		fmt.Fprintf(out, "  %v  key %s: clients %d and %d\n", time.Duration(v.At), v.Key, v.First, v.Second)
	}
	return nil
}
