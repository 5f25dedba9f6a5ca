package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/internal/service/servers"
)

func newAdapterBench() *cobra.Command {
	var out outFlags
	rounds, pairs := 20, 100
	cmd := &cobra.Command{
		Use:   "bench [flags] -- COMMAND...",
		Short: "Measure a lock by its adapter and in a bare loop of the library",
		Long: `bench measures a lock without contention, by one owner and one key on a private server: a request that
does nothing, an acquire and a release as two requests, and the same pair in a loop of the adapter
itself, where no request is between the calls. The three take turns, and the report has the medians
of the rounds. The difference is the cost of the protocol.`,
		Example: "  lockbench adapter bench -- python3 my_lock.py",
		Args:    adapterCommand("bench"),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := out.parse(adapterOutputs)
			if err != nil {
				return err
			}
			if rounds < 1 {
				return fmt.Errorf("--rounds %d: too few; hint: 1 or more", rounds)
			}
			if pairs < 1 {
				return fmt.Errorf("--pairs %d: too few; hint: 1 or more", pairs)
			}
			r, err := benchAdapter(cmd.Context(), shellWords(args), rounds, pairs)
			if err != nil {
				return err
			}
			return writeAdapterReport(cmd.OutOrStdout(), paths, r, r.text())
		},
	}
	cmd.Flags().IntVar(&rounds, "rounds", rounds, "`number` of rounds; one more, before them, is not counted")
	cmd.Flags().IntVar(&pairs, "pairs", pairs, "`number` of acquires and releases of a round")
	out.add(cmd.Flags(), adapterOutputs)
	return cmd
}

// A benchReport is the result of adapter bench. The figures of the bare loop are nil if it is not known.
type benchReport struct {
	Adapter         string        `json:"adapter"`
	Hello           adapter.Hello `json:"hello"`
	Server          string        `json:"server"`
	Relayed         bool          `json:"relayed"`
	Rounds          int           `json:"rounds"`
	Pairs           int           `json:"pairs"`
	NoopUS          float64       `json:"noop_us"`
	StepsUS         float64       `json:"steps_us"`
	StepsGrantsPerS float64       `json:"steps_grants_per_s"`
	BareUS          *float64      `json:"bare_us"`
	BareGrantsPerS  *float64      `json:"bare_grants_per_s"`
	StepUS          *float64      `json:"step_us"`
	BareUnknown     string        `json:"bare_unknown,omitempty"`
}

func benchAdapter(ctx context.Context, command string, rounds, pairs int) (_ *benchReport, err error) {
	var on adapterService
	defer func() { err = errors.Join(err, on.close(ctx)) }()
	hello, c, err := adapter.Bench(ctx, command, func(b design.Backend) (env design.Environment, address string, err error) {
		if env, err = on.open(ctx, b, ""); err != nil || on.Kind() == design.Embedded {
			return env, "", err
		}
		switch server := on.Service.(type) {
		case *servers.Server:
			address, err = server.ListenTCP(ctx)
		case design.Networked:
			address = server.Endpoint()
		}
		return env, address, err
	}, rounds, pairs)
	if err != nil {
		return nil, err
	}
	r := &benchReport{
		Adapter: command, Hello: hello, Server: on.Kind() + ", " + on.Version(), Relayed: c.Relayed, Rounds: rounds, Pairs: pairs,
		NoopUS: micros(c.Noop), StepsUS: micros(c.Steps), StepsGrantsPerS: 1 / c.Steps.Seconds(), BareUnknown: c.BareUnknown,
	}
	if c.BareUnknown == "" {
		bare, rate, step := micros(c.Bare), 1/c.Bare.Seconds(), micros(c.Step())
		r.BareUS, r.BareGrantsPerS, r.StepUS = &bare, &rate, &step
	}
	return r, nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func (r *benchReport) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", describeHello(r.Hello))
	fmt.Fprintf(&b, "  noop       %8.1f us for a request\n", r.NoopUS)
	fmt.Fprintf(&b, "  in steps   %8.1f us for an acquire and a release, %.0f grants/s\n", r.StepsUS, r.StepsGrantsPerS)
	if r.BareUS == nil {
		fmt.Fprintf(&b, "the bare loop is not known: %s\n", legible.Text(r.BareUnknown))
	} else {
		fmt.Fprintf(&b, "  bare loop  %8.1f us for an acquire and a release\n", *r.BareUS)
		fmt.Fprintf(&b, "a step costs %.1f us over the bare call\n", *r.StepUS)
		fmt.Fprintf(&b, "%.0f grants/s in the bare loop\n", *r.BareGrantsPerS)
	}
	relayed := ""
	if r.Relayed {
		relayed = ", through a relay"
	}
	fmt.Fprintf(&b, "medians of %d rounds of %d; %s%s\n", r.Rounds, r.Pairs, r.Server, relayed)
	return b.String()
}
