package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/internal/ui"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
)

// uiFlag adds the flag that asks for the live view.
func uiFlag(f *pflag.FlagSet, asked *bool) {
	f.BoolVar(asked, "ui", false, "show the run live, full-screen: rate, percentiles, what broke, faults; on a terminal only, else progress is printed in lines")
}

// show returns the progress for a run of p, and the context for it: that of the command,
// or where the run is shown live one that ends when somebody at the terminal asks for
// that. Where nothing can be shown it says so, and progress is told in lines.
func (o *singleOptions) show(cmd *cobra.Command, p *runner.Plan) (context.Context, progress, error) {
	ctx, w := cmd.Context(), cmd.ErrOrStderr()
	plain := newProgress(w, o.quiet, len(p.Subjects))
	if !o.ui {
		return ctx, plain, nil
	}
	if o.quiet {
		return ctx, nil, errors.New("--ui shows progress and --quiet is to have none; hint: leave one of them out")
	}
	out, _ := w.(*os.File)
	if err := ui.Can(out); err != nil {
		plain.say("--ui: %v; progress is printed in lines", err)
		return ctx, plain, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	return ctx, newLiveView(ctx, p, w, func(session func() ui.Session) *ui.Screen {
		return ui.Open(out, os.Stdin, session, func() {
			cancel()
			// From here on signals have their usual effect, so that Ctrl-C aborts.
			signal.Reset(os.Interrupt, syscall.SIGTERM)
		})
	}), nil
}

// title says in a line what a plan is.
func title(p *runner.Plan) string {
	o := p.Options.OrDefaults()
	parts := []string{p.Workload.Name, fmt.Sprintf("%d clients", o.Clients)}
	if o.Keys > 0 {
		parts = append(parts, fmt.Sprintf("%d keys", o.Keys))
	}
	parts = append(parts, fmt.Sprintf("lease %v", o.TTL), fmt.Sprintf("hold %v", o.Hold), fmt.Sprintf("wait %v", o.Wait))
	if o.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%v arrivals/s", o.Rate))
	}
	all, _ := faults.ParseAll(p.Faults) // the plan was checked
	for _, f := range all {
		parts = append(parts, "fault "+f.String())
	}
	return strings.Join(parts, " · ")
}

// liveView is the progress of a session on a full screen. What is said once that is
// closed becomes a line again.
type liveView struct {
	*lines
	ctx context.Context
	// open opens the screen.
	open func(session func() ui.Session) *ui.Screen

	screenMu sync.Mutex // held while the screen is opened or closed, which may take a while
	screen   *ui.Screen // nil until the first design begins
	closed   bool

	mu       sync.Mutex // guards what follows; nobody holds it for long
	shown    ui.Session
	live     func() runner.Progress
	counting rateCounter
}

// newLiveView returns the view of a session of p, which open opens; lines go to w.
func newLiveView(ctx context.Context, p *runner.Plan, w io.Writer, open func(func() ui.Session) *ui.Screen) *liveView {
	v := &liveView{lines: &lines{w: w, total: len(p.Subjects)}, ctx: ctx, open: open}
	v.shown.Title, v.shown.Designs = title(p), len(p.Subjects)
	return v
}

// say shows a note. When the session is being ended, the view gives way to lines.
func (v *liveView) say(format string, args ...any) {
	if v.ctx.Err() != nil {
		v.close()
	}
	if v.isClosed() {
		v.lines.say(format, args...)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown.Notes = append(slices.Clone(v.shown.Notes), fmt.Sprintf(format, args...))
}

// planned says how many designs there are after all.
func (v *liveView) planned(designs int) {
	v.lines.total = designs
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown.Designs = designs
}

func (v *liveView) isClosed() bool {
	v.screenMu.Lock()
	defer v.screenMu.Unlock()
	return v.closed
}

// sink is informed of a session, and shows it.
func (v *liveView) sink() runner.Sink {
	return runner.Sink{
		Say: func(text string) { v.say("%s", text) }, Planned: v.planned,
		Begin: func(of runner.Subject, progress func() runner.Progress) { v.begin(of.Label(), progress) },
		Found: v.found, SoFar: v.copies(), End: v.end,
	}
}

func (v *liveView) begin(design string, live func() runner.Progress) {
	v.lines.name = design
	v.mu.Lock()
	v.live, v.counting = live, rateCounter{}
	v.shown.Current = ui.Run{Design: design}
	v.mu.Unlock()
	v.screenMu.Lock()
	defer v.screenMu.Unlock()
	if v.screen == nil && !v.closed {
		v.screen = v.open(v.session)
	}
}

// session is what there is to be seen now.
func (v *liveView) session() ui.Session {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.shown
	if s.Current.Design == "" {
		return s
	}
	r := &s.Current
	now := v.live()
	r.Elapsed, r.Length, r.Grants, r.Refused, r.Failed = now.Elapsed, now.Length, now.Grants, now.Refused, now.Failed
	v.counting.see(r.Grants, r.Elapsed)
	r.Rate = v.counting.counts()
	return s
}

// found shows what was broken for the first time. It is called by who judges, like
// judged, and neither ever waits for the terminal.
func (v *liveView) found(f checker.Finding, at time.Duration) {
	b := ui.Breach{Guarantee: f.Cell.String(), Claimed: f.Against > 0, Count: f.Violations, First: at}
	if f.Counterexample != nil {
		b.Key = f.Counterexample.Key
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	r := &v.shown.Current
	r.Breaches = append(slices.Clone(r.Breaches), b)
}

// judged shows what the judgement has come to.
func (v *liveView) judged(so judgedSoFar) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := &v.shown.Current
	r.Acquire, r.Faults = so.acquire, so.faults
	r.Breaches = slices.Clone(r.Breaches)
	for i, b := range r.Breaches {
		r.Breaches[i].Count = max(b.Count, so.violations[b.Guarantee])
		r.Breaches[i].Claimed = b.Claimed || so.against[b.Guarantee]
	}
}

func (v *liveView) end(j *reports.Judged) {
	if v.isClosed() {
		v.lines.end(j)
		return
	}
	v.lines.done++
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown.Current = ui.Run{}
	v.shown.Done = append(slices.Clone(v.shown.Done), outcomeShown(v.lines.name, j))
}

// close takes the screen away. What keeps it from showing is told, for it matters to
// nobody else.
func (v *liveView) close() {
	v.screenMu.Lock()
	defer v.screenMu.Unlock()
	if v.closed {
		return
	}
	v.closed = true
	if v.screen == nil {
		return
	}
	if err := v.screen.Close(); err != nil {
		v.lines.say("--ui: %v", err)
	}
}

// outcomeShown is a verdict in a few words.
func outcomeShown(name string, j *reports.Judged) ui.Outcome {
	r := reports.New([]reports.Judged{*j}, nil)
	run := &r.Runs[0]
	o := ui.Outcome{Design: name, GrantsPerSecond: run.GrantsPerS, P99: run.Latency["acquire"].P99}
	claimed, others := broken(j.Verdicts.Findings)
	switch {
	case len(claimed) > 0:
		o.Mark, o.Words = ui.Broken, "CLAIM BROKEN: "+cellNames(claimed)
	case run.Exit != reports.Passed:
		o.Words = "inconclusive"
		if j.Err != nil {
			o.Words += ": " + j.Err.Error()
		}
	default:
		o.Mark, o.Words = ui.Kept, "claims held"
	}
	if len(others) > 0 {
		o.Words += "; not claimed, broken: " + cellNames(others)
	}
	return o
}

// broken are the cells that were: those that count against the claims, and the others.
func broken(all []checker.Finding) (claimed, others []lockbench.Cell) {
	for _, f := range all {
		switch {
		case f.Verdict != checker.Broken:
		case f.Against > 0:
			claimed = append(claimed, f.Cell)
		default:
			others = append(others, f.Cell)
		}
	}
	return claimed, others
}
