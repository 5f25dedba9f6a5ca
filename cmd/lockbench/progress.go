package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/runner"
)

// progress tells somebody who waits how far a session has come. It says nothing
// that the result does not say too.
type progress interface {
	say(format string, args ...any)
	sink() runner.Sink
	close()
}

// sayInterrupted tells of an interruption as soon as it happens, until it is stopped.
func sayInterrupted(ctx context.Context, say func(string, ...any)) (stop func() bool) {
	return context.AfterFunc(ctx, func() { say("interrupted: ending it in good order; once more aborts") })
}

// newProgress shows a bar on a terminal and plain lines elsewhere, for a session
// of so many designs; nothing when quiet.
func newProgress(w io.Writer, quiet bool, designs int) progress {
	if quiet {
		return &lines{w: io.Discard}
	}
	out := &lines{w: w, total: designs}
	if f, isFile := w.(*os.File); isFile && term.IsTerminal(int(f.Fd())) {
		return &bar{lines: out}
	}
	return out
}

// lines writes a line at the start and the end of every design. Errors of
// writing are dropped: progress that nobody can see is no reason to stop.
type lines struct {
	mu    sync.Mutex
	w     io.Writer
	total int
	done  int
	name  string
}

func (l *lines) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, format+"\n", args...)
}

// sink is informed of a session, and writes the lines.
func (l *lines) sink() runner.Sink {
	return runner.Sink{
		Say: func(text string) { l.say("%s", text) }, Planned: func(runs int) { l.total = runs },
		Begin: func(of runner.Subject, _ func() runner.Progress) { l.begin(of.Label()) }, Found: l.found, End: l.end,
	}
}

func (l *lines) begin(design string) {
	l.name = design
	l.say("%s %s ...", l.count(l.done+1), design)
}

// found tells of a claim that is broken; what is not claimed can wait for the report.
func (l *lines) found(f checker.Finding, at time.Duration) {
	if f.Against > 0 {
		l.say("%s", alarm(l.name, f, at))
	}
}

// alarm is a breach in one line: what, how far into the run, on which key and by whom.
func alarm(design string, f checker.Finding, at time.Duration) string {
	where := ""
	if f.Counterexample != nil {
		where = fmt.Sprintf(", key %s: %s", f.Counterexample.Key, f.Counterexample.Sentence)
	}
	return fmt.Sprintf("%s: CLAIM BROKEN, %s, %v into the run%s", design, f.Cell, at.Round(time.Millisecond), where)
}

func (l *lines) end(j *reports.Judged) {
	l.done++
	l.say("%s %s: %s", l.count(l.done), l.name, gist(j))
}

// count says which run it is, and of how many where that is known.
func (l *lines) count(n int) string {
	if l.total == 0 {
		return fmt.Sprintf("[%d]", n)
	}
	return fmt.Sprintf("[%d/%d]", n, l.total)
}

func (l *lines) close() {}

// gist is a run in a few words.
func gist(j *reports.Judged) string {
	s := fmt.Sprintf("%.0f grants/s", j.Measures.GrantsPerSecond)
	broken := brokenCells(j.Verdicts.Findings)
	switch {
	case j.Err != nil:
		return s + ", " + j.Err.Error()
	case len(broken) > 0:
		return s + ", broke " + cellNames(broken)
	}
	return s + ", broke nothing"
}

// bar redraws one line a few times a second, and takes it away at the end.
type bar struct {
	*lines
	violations int64 // found in the designs that are done

	stop, stopped chan struct{}
}

// redraw is how often the bar moves.
const redraw = 200 * time.Millisecond

// sink is informed of a session, and moves the bar.
func (b *bar) sink() runner.Sink {
	s := b.lines.sink()
	s.Say = func(text string) { b.say("%s", text) }
	s.Begin = func(of runner.Subject, live func() runner.Progress) { b.begin(of.Label(), live) }
	s.End = b.end
	return s
}

func (b *bar) begin(design string, live func() runner.Progress) {
	b.stop, b.stopped = make(chan struct{}), make(chan struct{})
	pb := progressbar.NewOptions64(1000,
		progressbar.OptionSetWriter(b.w),
		progressbar.OptionSetWidth(20),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetDescription(b.describe(design, live())),
		progressbar.OptionSetRenderBlankState(true),
	)
	go func() {
		defer close(b.stopped)
		b.follow(pb, design, live)
	}()
}

func (b *bar) follow(pb *progressbar.ProgressBar, design string, live func() runner.Progress) {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			b.locked(func() { _ = pb.Clear() })
			return
		case <-tick.C:
			b.locked(func() {
				pb.Describe(b.describe(design, live()))
				_ = pb.Set64(permille(live()))
			})
		}
	}
}

func (b *bar) locked(draw func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	draw()
}

// describe is what stands before the bar. Violations are those found in designs
// that are done, and those of the current one as far as it is judged.
func (b *bar) describe(design string, live runner.Progress) string {
	rate := 0.0
	if live.Elapsed > 0 {
		rate = float64(live.Grants) / live.Elapsed.Seconds()
	}
	return fmt.Sprintf("[%d/%d] %-23s %7.0f grants/s  %d violations so far",
		b.done+1, b.total, design, rate, b.violations+live.Violations)
}

// permille is how much of the run is over; a run without a duration does not tell.
func permille(live runner.Progress) int64 {
	share, _ := live.Share()
	// At 1000 the bar would take itself for finished before the design is judged.
	return min(999, int64(1000*share))
}

func (b *bar) end(j *reports.Judged) {
	b.close()
	b.done++
	for _, f := range j.Verdicts.Findings {
		if f.Verdict == checker.Broken {
			b.violations += f.Violations
		}
	}
}

func (b *bar) close() {
	if b.stop != nil {
		close(b.stop)
		<-b.stopped
		b.stop = nil
	}
}

// say writes its line in place of the bar, which comes back by itself.
func (b *bar) say(format string, args ...any) {
	b.lines.say("\r\x1b[K"+format, args...)
}
