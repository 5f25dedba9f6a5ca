// Pairs measures how many pairs of a lock's two commands, SET key token NX PX and EVALSHA
// compare-and-delete, different clients get through one private Redis: redis-benchmark, a
// bare go-redis loop, lockbench's driver without a record, the driver with a record that
// is not judged, and any command that writes a lockbench result, such as lockbench run
// itself. Like lockbench, the loop leaves a core to the server.
//
// The subjects take turns, round after round, so that other work of the machine affects
// all of them; a ratio is the median of the rounds' ratios.
//
//	pairs -rounds 5 -subject "lockbench=lockbench run --server {redis} --out json={out} ..."
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lockbench/lockbench/internal/service/servers"
)

// options are the command line's settings.
type options struct {
	Rounds   int           // how often every subject has its turn
	Clients  int           // connections at one time
	Duration time.Duration // of a loop's turn
	Requests int           // of each command in redis-benchmark's turn
	Commands []string      // name=command line, with {redis} and {out} to fill in
}

func main() {
	servers.SilenceClients()
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)-1))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, args []string) error {
	opt, err := parse(args)
	if err != nil {
		return err
	}
	server, err := servers.StartPrivate(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	subjects, err := newSubjects(server, opt)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, %d clients, %d rounds\n", server.Version(), opt.Clients, opt.Rounds)
	rates, err := measure(ctx, subjects, opt.Rounds)
	if err != nil {
		return err
	}
	return report(w, subjects, rates)
}

func parse(args []string) (options, error) {
	var opt options
	flags := flag.NewFlagSet("pairs", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&opt.Rounds, "rounds", 5, "how often every subject has its turn")
	flags.IntVar(&opt.Clients, "clients", 50, "connections at one time")
	flags.DurationVar(&opt.Duration, "duration", 2*time.Second, "length of a loop's turn")
	flags.IntVar(&opt.Requests, "requests", 50_000, "requests of each command in redis-benchmark's turn")
	flags.Func("subject", "one more subject, `name=command line`; {redis} and {out} in it become the server's URL and the file for the JSON result", func(s string) error {
		if !strings.Contains(s, "=") {
			return errors.New("want name=command line")
		}
		opt.Commands = append(opt.Commands, s)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(os.Stderr)
			flags.PrintDefaults()
		}
		return opt, err
	}
	if opt.Rounds < 1 || opt.Clients < 1 || opt.Requests < opt.Clients || opt.Duration <= 0 {
		return opt, fmt.Errorf("nothing to measure in %+v; hint: all numbers are positive, requests at least the clients", opt)
	}
	return opt, nil
}

// measure returns the pairs per second of each subject, round by round.
func measure(ctx context.Context, subjects []subject, rounds int) ([][]float64, error) {
	rates := make([][]float64, len(subjects))
	for range rounds {
		for i, s := range subjects {
			rate, err := s.turn(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	return rates, nil
}

// bases are the subjects to compare all with: redis-benchmark, the bare loop and
// lockbench's driver without a record.
var bases = []int{0, 1, 2}

// report prints a line per subject, with its ratios to the bases.
func report(w io.Writer, subjects []subject, rates [][]float64) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "subject\tpairs/s\tmin\tmax\t")
	for _, b := range bases {
		fmt.Fprintf(table, "of %s\t", subjects[b].name)
	}
	fmt.Fprintln(table)
	for i, s := range subjects {
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.0f\t", s.name, median(rates[i]), slices.Min(rates[i]), slices.Max(rates[i]))
		for _, b := range bases {
			fmt.Fprintf(table, "%.3f\t", ratio(rates[i], rates[b]))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// ratio returns the median over the rounds of a's rate to b's.
func ratio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
