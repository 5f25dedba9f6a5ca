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
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/reports"
)

// progress tells somebody who waits how far a session has come. It says nothing
// that the result does not say too. Only say and found may be called concurrently.
type progress interface {
	say(format string, args ...any)
	begin(design string, live *load.Progress)
	found(f checker.Finding, at time.Duration)
	end(j *reports.Judged)
	close()
}

// sayInterrupted tells of an interruption as soon as it happens, until it is stopped.
func sayInterrupted(ctx context.Context, say func(string, ...any)) (stop func() bool) {
	return context.AfterFunc(ctx, func() { say("interrupted: ending it in good order; once more aborts") })
}

// newProgress shows a bar on a terminal and plain lines elsewhere, for a session
// of so many designs.
func newProgress(w io.Writer, quiet bool, designs int) progress {
	if quiet {
		return silence{}
	}
	out := &lines{w: w, total: designs}
	if f, isFile := w.(*os.File); isFile && term.IsTerminal(int(f.Fd())) {
		return &bar{lines: out}
	}
	return out
}

// silence is the progress of run -q.
type silence struct{}

func (silence) say(string, ...any)                   {}
func (silence) begin(string, *load.Progress)         {}
func (silence) found(checker.Finding, time.Duration) {}
func (silence) end(*reports.Judged)                  {}
func (silence) close()                               {}

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

// plan says how many designs there are after all.
func (l *lines) plan(designs int) { l.total = designs }

func (l *lines) begin(design string, _ *load.Progress) {
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

func (b *bar) begin(design string, live *load.Progress) {
	b.stop, b.stopped = make(chan struct{}), make(chan struct{})
	pb := progressbar.NewOptions64(1000,
		progressbar.OptionSetWriter(b.w),
		progressbar.OptionSetWidth(20),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetDescription(b.describe(design, live)),
		progressbar.OptionSetRenderBlankState(true),
	)
	go func() {
		defer close(b.stopped)
		b.follow(pb, design, live)
	}()
}

func (b *bar) follow(pb *progressbar.ProgressBar, design string, live *load.Progress) {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			b.locked(func() { _ = pb.Clear() })
			return
		case <-tick.C:
			b.locked(func() {
				pb.Describe(b.describe(design, live))
				_ = pb.Set64(permille(live))
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
func (b *bar) describe(design string, live *load.Progress) string {
	rate := 0.0
	if elapsed := since(live); elapsed > 0 {
		rate = float64(live.Grants.Load()) / elapsed.Seconds()
	}
	return fmt.Sprintf("[%d/%d] %-23s %7.0f grants/s  %d violations so far",
		b.done+1, b.total, design, rate, b.violations+live.Violations.Load())
}

// since is how long the clients have been running.
func since(live *load.Progress) time.Duration {
	started := live.Started.Load()
	if started == 0 {
		return 0
	}
	return time.Since(time.Unix(0, started))
}

// permille is how much of the run is over; a run without a duration does not tell.
func permille(live *load.Progress) int64 {
	share, _ := shareOver(live)
	// At 1000 the bar would take itself for finished before the design is judged.
	return min(999, int64(1000*share))
}

// shareOver is how much of a run is over, 0 to 1. One that is to make a number of
// operations does not tell.
func shareOver(live *load.Progress) (share float64, known bool) {
	duration := live.Duration.Load()
	if duration <= 0 {
		return 0, false
	}
	return min(1, float64(since(live))/float64(duration)), true
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
