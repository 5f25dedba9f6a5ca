// Generate writes the history of a correct lock, except that it grants a key to a second owner
// -violations times, and prints the places. Clients acquire, extend and release side by side,
// are refused and outlive their leases; some operations have an unknown outcome. Equal flags
// make equal files.
//
//	generate [-ops 1000000] [-violations 0] [-seed 1] [-clients 64] [-keys 1000] [-unknown 0] [-ttl 100ms] [-format native] FILE
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lib/suggest"
	"github.com/lockbench/lockbench/internal/testkit/synthetic"
)

func main() {
	if err := run(os.Stdout, os.Stderr, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(2)
	}
}

// run writes the history to the file named in args, its violations to w and help to wErr.
func run(w, wErr io.Writer, args []string) error {
	c := synthetic.Usual()
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Int64Var(&c.Ops, "ops", c.Ops, "number of `operations`")
	flags.Int64Var(&c.Violations, "violations", c.Violations, "number of `times` that two owners hold one key within their validity")
	flags.Uint64Var(&c.Seed, "seed", c.Seed, "seed of all random choices")
	flags.IntVar(&c.Clients, "clients", c.Clients, "number of clients")
	flags.IntVar(&c.Keys, "keys", c.Keys, "number of keys")
	flags.Float64Var(&c.Unknown, "unknown", c.Unknown, "`share` of operations whose outcome is unknown, 0 to 0.95")
	flags.DurationVar(&c.TTL, "ttl", c.TTL, "lease that clients ask for")
	format := flags.String("format", "native", "form of the file: native or jsonl")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(wErr)
			flags.Usage()
		}
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("%d files given; hint: generate FILE, after the flags", flags.NArg())
	}
	begin, known := map[string]synthetic.Begin{"native": history.NewWriter, "jsonl": history.NewJSONLWriter}[*format]
	if !known {
		return suggest.Unknown("format", *format, []string{"native", "jsonl"})
	}
	planted, err := synthetic.Save(flags.Arg(0), c, begin)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %d operations, %d violations of exclusion\n", flags.Arg(0), c.Ops, len(planted))
	for _, v := range planted {
		fmt.Fprintf(w, "  %v  key %s: clients %d and %d\n", time.Duration(v.At), v.Key, v.First, v.Second)
	}
	return nil
}
