package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/cli/ui"
	"github.com/lockbench/lockbench/runner"
)

// uiFlag adds the flag that asks for the live view.
func uiFlag(f *pflag.FlagSet, asked *bool) {
	f.BoolVar(asked, "ui", false, "show the run live on the full terminal: rate, percentiles, violations, faults; without a terminal, print progress in lines")
}

// show returns the progress for a run of p, and the context for it: the context of the command or, if
// the run is shown live, one that ends when the user at the terminal quits. Without a terminal it
// announces that, and prints progress in lines.
func (o *singleOptions) show(cmd *cobra.Command, p *runner.Plan, table *progress.Table) (context.Context, progress.Runs, error) {
	ctx, w := cmd.Context(), cmd.ErrOrStderr()
	plain := progress.OfRuns(w, o.quiet, len(p.Subjects), table)
	if !o.ui {
		return ctx, plain, nil
	}
	if o.quiet {
		return ctx, nil, errors.New("--ui shows progress, and --quiet turns it off; hint: leave one of them out")
	}
	out, _ := w.(*os.File)
	if err := ui.Can(out); err != nil {
		plain.Say("--ui: %v; progress is printed in lines", err)
		return ctx, plain, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	return ctx, ui.NewLive(ctx, p, w, func(session func() ui.Session) *ui.Screen {
		return ui.Open(out, os.Stdin, session, func() {
			cancel()
			// Signals have their usual effect from here on, so that Ctrl-C aborts.
			signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
		})
	}), nil
}
