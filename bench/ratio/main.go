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
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/synthetic"
)

// options are the command line's settings.
type options struct {
	Old, New     binary
	Rounds       int
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
	flags.IntVar(&opt.Rounds, "rounds", 40, "rounds, of two turns of each binary")
	flags.Int64Var(&opt.Ops, "ops", 1_000_000, "operations of the history that check judges")
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
	if opt.Rounds < 1 || opt.Ops < 1 {
		return opt, fmt.Errorf("%d rounds and %d operations; hint: both are positive", opt.Rounds, opt.Ops)
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

// A result has the work of one measurement, round by round.
type result struct{ old, new []turn }

// measure runs the rounds, and reverses every other round. The measurements take turns, too, so
// that a disturbance of the machine affects a few rounds of each measurement, and not all rounds of
// one.
func measure(ctx context.Context, wErr io.Writer, p place, opt options) ([]result, error) {
	results := make([]result, len(opt.Measurements))
	start := time.Now()
	for round := range opt.Rounds {
		for i, m := range opt.Measurements {
			if err := results[i].add(ctx, p, m, opt, round%2 == 1); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(wErr, "round %d of %d, %s\n", round+1, opt.Rounds, time.Since(start).Round(time.Second))
	}
	return results, nil
}

// add measures one round; NEW comes first and last if reversed.
func (r *result) add(ctx context.Context, p place, m measurement, opt options, reversed bool) error {
	sides, sums := [2]binary{opt.Old, opt.New}, [2]turn{}
	order := []int{0, 1, 1, 0}
	if reversed {
		order = []int{1, 0, 0, 1}
	}
	for _, side := range order {
		t, err := sides[side].turn(ctx, p, m)
		if err != nil {
			return err
		}
		sums[side] = sums[side].plus(t)
	}
	r.old, r.new = append(r.old, sums[0]), append(r.new, sums[1])
	return nil
}
