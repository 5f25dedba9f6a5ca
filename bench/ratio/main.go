package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/servers"
	"github.com/lockbench/lockbench/internal/synthetic"
)

// options are the command line's settings.
type options struct {
	Old, New     binary
	Pairs        int
	Ops          int64 // operations of the history that check judges
	Measurements []measurement
}

func main() {
	servers.SilenceClients()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ratio:", err)
		os.Exit(2)
	}
}

// run writes the table to w, and help and progress to wErr.
func run(ctx context.Context, w, wErr io.Writer, args []string) error {
	opt, err := parse(wErr, args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ratio")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := prepare(ctx, opt, dir)
	if err != nil {
		return err
	}
	defer p.close()
	results, err := measure(ctx, wErr, p, opt)
	if err != nil {
		return err
	}
	return report(w, opt, results)
}

func parse(wErr io.Writer, args []string) (opt options, err error) {
	flags := flag.NewFlagSet("ratio", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&opt.Pairs, "pairs", 16, "turns of each binary")
	flags.Int64Var(&opt.Ops, "ops", 20_000_000, "operations of the history that check judges")
	rows := flags.String("rows", "", "rows or verbs, by comma (default all)")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(wErr)
			flags.Usage()
		}
		return opt, err
	}
	if flags.NArg() != 2 {
		return opt, fmt.Errorf("%d binaries given; hint: give two, OLD and NEW", flags.NArg())
	}
	if opt.Pairs < 1 || opt.Ops < 1 {
		return opt, fmt.Errorf("%d pairs and %d operations; hint: both are positive", opt.Pairs, opt.Ops)
	}
	if opt.Measurements, err = selected(*rows); err != nil {
		return opt, err
	}
	if opt.Old, err = newBinary("OLD", flags.Arg(0)); err != nil {
		return opt, err
	}
	opt.New, err = newBinary("NEW", flags.Arg(1))
	return opt, err
}

// place has the files and the server for the commands.
type place struct {
	server  *servers.Server // nil if no command needs one
	history string
	replays string // a folder for schedules that explore saves
	out     string // file for a command's result
}

// prepare makes the needed parts of a place. The server is no child of the binaries: the processor
// time of a process includes its children's.
func prepare(ctx context.Context, opt options, dir string) (p place, err error) {
	p = place{history: filepath.Join(dir, "h.lbh"), replays: filepath.Join(dir, "replays"), out: filepath.Join(dir, "result.json")}
	if needs(opt.Measurements, "{history}") {
		c := synthetic.Usual()
		c.Ops, c.Seed = opt.Ops, 5
		if _, err := synthetic.Save(p.history, c, history.NewWriter); err != nil {
			return p, err
		}
	}
	if needs(opt.Measurements, "{server}") {
		p.server, err = servers.StartPrivate(ctx)
	}
	return p, err
}

// fill returns the words of a command with the paths of p in place of placeholders, spaces and
// all.
func (p place) fill(command string) []string {
	known := []string{"{history}", p.history, "{replays}", p.replays}
	if p.server != nil {
		known = append(known, "{server}", p.server.Address())
	}
	words := strings.Fields(command)
	for i := range words {
		words[i] = strings.NewReplacer(known...).Replace(words[i])
	}
	return words
}

func (p place) close() {
	if p.server != nil {
		p.server.Close()
	}
}

// A result has the turns of one measurement, pair by pair.
type result struct{ old, new []turn }

// measure lets the binaries take turns: OLD NEW, NEW OLD, OLD NEW and so on, so that a machine
// that becomes slower or faster favours neither. The measurements take turns, too, so that a
// disturbance of the machine affects a few pairs of each, and not all pairs of one.
func measure(ctx context.Context, wErr io.Writer, p place, opt options) ([]result, error) {
	results := make([]result, len(opt.Measurements))
	start := time.Now()
	for pair := range opt.Pairs {
		for i, m := range opt.Measurements {
			if err := results[i].add(ctx, p, m, opt, pair%2 == 1); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(wErr, "pair %d of %d, %s\n", pair+1, opt.Pairs, time.Since(start).Round(time.Second))
	}
	return results, nil
}

// add measures one pair; NEW comes first if reversed.
func (r *result) add(ctx context.Context, p place, m measurement, opt options, reversed bool) (err error) {
	var old, changed turn
	first, second := &old, &changed
	one, other := opt.Old, opt.New
	if reversed {
		first, second, one, other = second, first, other, one
	}
	if *first, err = one.turn(ctx, p, m); err != nil {
		return err
	}
	if *second, err = other.turn(ctx, p, m); err != nil {
		return err
	}
	r.old, r.new = append(r.old, old), append(r.new, changed)
	return nil
}
