package ui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/cli/progress"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// titleOf describes a plan in a line.
func titleOf(p *runner.Plan) string {
	o := p.Options.OrDefaults()
	parts := []string{p.Workload.Name}
	clients, keys := points(p)
	parts = append(parts, clients+" clients")
	if keys != "" {
		parts = append(parts, keys+" keys")
	}
	parts = append(parts, fmt.Sprintf("lease %v", o.TTL), fmt.Sprintf("hold %v", o.Hold), fmt.Sprintf("wait %v", o.Wait))
	if o.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%v arrivals/s", o.Rate))
	}
	all, _ := fault.ParseAll(p.Faults) // the plan was checked
	for _, f := range all {
		parts = append(parts, "fault "+f.String())
	}
	return strings.Join(parts, " · ")
}

// points lists the numbers of clients and of keys of the subjects, each once.
func points(p *runner.Plan) (clients, keys string) {
	add := func(list string, n int) string {
		number := strconv.Itoa(n)
		switch {
		case n == 0 || slices.Contains(strings.Split(list, ", "), number):
			return list
		case list == "":
			return number
		}
		return list + ", " + number
	}
	subjects := p.Subjects
	if len(subjects) == 0 {
		subjects = make([]runner.Subject, 1)
	}
	for _, of := range subjects {
		o := p.Options
		if of.Change != nil {
			of.Change(&o)
		}
		o = o.OrDefaults()
		clients, keys = add(clients, o.Clients), add(keys, o.Keys)
	}
	return clients, keys
}

// A Live is the progress of a plan of runs on a full screen. After it is closed, notes
// become lines again.
type Live struct {
	lines *progress.Lines
	ctx   context.Context
	// open opens the screen.
	open func(session func() Session) *Screen

	screenMu sync.Mutex // held while the screen is opened or closed, which may take a while
	screen   *Screen    // nil until the first design begins
	closed   bool

	mu       sync.Mutex // guards the fields below; held only briefly
	shown    Session
	live     func() runner.Progress
	counting rateCounter
}

// NewLive returns the view of a plan, opened by open as [Open] does; lines go to w.
func NewLive(ctx context.Context, p *runner.Plan, w io.Writer, open func(func() Session) *Screen) *Live {
	v := &Live{lines: progress.NewLines(w, len(p.Subjects)), ctx: ctx, open: open}
	v.shown.Title, v.shown.Designs = titleOf(p), len(p.Subjects)
	return v
}

// Say shows a note. When the session is being ended, the view closes and lines replace
// it.
func (v *Live) Say(format string, args ...any) {
	if v.ctx.Err() != nil {
		v.Close()
	}
	if v.isClosed() {
		v.lines.Say(format, args...)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown.Notes = append(slices.Clone(v.shown.Notes), fmt.Sprintf(format, args...))
}

// planned sets the final number of designs.
func (v *Live) planned(designs int) {
	v.lines.Total = designs
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown.Designs = designs
}

func (v *Live) isClosed() bool {
	v.screenMu.Lock()
	defer v.screenMu.Unlock()
	return v.closed
}

// Sink returns a sink that shows the runs.
func (v *Live) Sink() runner.Sink {
	return runner.Sink{
		Say: func(text string) { v.Say("%s", text) }, Planned: v.planned,
		Begin: func(of runner.Subject, progress func() runner.Progress) { v.begin(of.Label(), progress) },
		Found: v.found, SoFar: v.copies(), End: v.end,
	}
}

func (v *Live) begin(design string, live func() runner.Progress) {
	v.lines.Name = design
	v.mu.Lock()
	v.live, v.counting = live, rateCounter{}
	v.shown.Current = Run{Design: design}
	v.mu.Unlock()
	v.screenMu.Lock()
	defer v.screenMu.Unlock()
	if v.screen == nil && !v.closed {
		v.screen = v.open(v.session)
	}
}

// session returns the present state for the view.
func (v *Live) session() Session {
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

// found shows the first violation of a cell. Like judged it is called by the judge and
// never waits for the terminal.
func (v *Live) found(f checker.CellFinding, at time.Duration) {
	b := Breach{Guarantee: f.Cell.String(), Claimed: f.Against > 0, Count: f.Violations, First: at}
	if f.Counterexample != nil {
		b.Key = f.Counterexample.Key
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	r := &v.shown.Current
	r.Breaches = append(slices.Clone(r.Breaches), b)
}

// judged shows the state of the judgement.
func (v *Live) judged(so judgedSoFar) {
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

func (v *Live) end(j *results.Judged) {
	if v.isClosed() {
		v.lines.End(j)
		return
	}
	v.lines.Done++
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown.Current = Run{}
	v.shown.Done = append(slices.Clone(v.shown.Done), outcomeShown(v.lines.Name, j))
}

// Close removes the screen. It writes the error of a screen that failed as a line.
func (v *Live) Close() {
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
		v.lines.Say("--ui: %v", err)
	}
}

// outcomeShown is a verdict in a few words.
func outcomeShown(name string, j *results.Judged) Outcome {
	r := results.New([]results.Judged{*j}, nil)
	run := &r.Runs[0]
	o := Outcome{Design: name, GrantsPerSecond: run.GrantsPerS, P99: run.Latency["acquire"].P99}
	cells := j.Verdicts.Cells()
	claimed := cells.Against()
	others := slices.DeleteFunc(cells.With(checker.Broken), func(cell lockbench.Cell) bool { return slices.Contains(claimed, cell) })
	switch {
	case len(claimed) > 0:
		o.Mark, o.Words = Broken, "CLAIM BROKEN: "+progress.CellNames(claimed)
	case run.Exit != results.Passed:
		o.Words = "inconclusive"
		if j.Err != nil {
			o.Words += ": " + j.Err.Error()
		}
	default:
		o.Mark, o.Words = Kept, "claims held"
	}
	if len(others) > 0 {
		o.Words += "; not claimed, broken: " + progress.CellNames(others)
	}
	return o
}
