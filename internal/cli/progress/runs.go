package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// Runs is the progress of a plan of runs. Only Say may be called concurrently.
type Runs interface {
	Say(format string, args ...any)
	Sink() runner.Sink
	Close()
}

// OfRuns shows a bar on a terminal and plain lines elsewhere, for a plan with a number of runs, zero if
// it is unknown; nothing if quiet. word returns the word of the conclusion about a run, empty for none;
// it may be nil.
func OfRuns(w io.Writer, quiet bool, runs int, word func(*results.Judged) string) Runs {
	lines := NewLines(w, runs)
	lines.word = word
	switch {
	case quiet:
		lines.w = io.Discard
	case isTerminal(w):
		lines.redrawn = true
		return &bar{Lines: lines}
	}
	return lines
}

// Lines writes a line at the start and the end of every run.
type Lines struct {
	writer
	// Total is the number of runs, Done the number of completed ones; Name is the current run.
	Total, Done int
	Name        string
	word        func(*results.Judged) string
}

// NewLines returns the lines for a number of runs, zero if it is unknown.
func NewLines(w io.Writer, runs int) *Lines { return &Lines{writer: writer{w: w}, Total: runs} }

// Sink returns a sink that writes the lines.
func (l *Lines) Sink() runner.Sink {
	return runner.Sink{
		Say: l.say, Planned: func(runs int) { l.Total = runs },
		Begin: func(of runner.Subject, _ func() runner.Progress) { l.begin(of.Label()) }, Found: l.found, End: l.End,
	}
}

func (l *Lines) begin(design string) {
	l.Name = design
	l.Say("%s %s ...", l.count(l.Done+1), design)
}

// found reports a broken claim; other violations can wait for the report.
func (l *Lines) found(f checker.CellFinding, at time.Duration) {
	if f.Against > 0 {
		l.Say("%s", alarm(l.Name, f, at))
	}
}

// alarm describes a violation in one line: the cell, the time in the run, the key and the
// clients.
func alarm(design string, f checker.CellFinding, at time.Duration) string {
	where := ""
	if f.Counterexample != nil {
		where = fmt.Sprintf(", key %s: %s", f.Counterexample.Key, f.Counterexample.Sentence)
	}
	return fmt.Sprintf("%s: CLAIM BROKEN, %s, %v into the run%s", design, f.Cell, at.Round(time.Millisecond), where)
}

// End writes the result of a run.
func (l *Lines) End(j *results.Judged) {
	l.Done++
	l.Say("%s", l.row(j))
}

// row describes the completed run in a line: its word and its figures.
func (l *Lines) row(j *results.Judged) string {
	gist := Gist(j)
	if l.word != nil {
		if word := l.word(j); word != "" {
			gist = word + "; " + gist
		}
	}
	return fmt.Sprintf("%s %s: %s", l.count(l.Done), l.Name, gist)
}

// count is the number of a run, and the total if it is known.
func (l *Lines) count(n int) string {
	if l.Total == 0 {
		return fmt.Sprintf("[%d]", n)
	}
	return fmt.Sprintf("[%d/%d]", n, l.Total)
}

// Close implements [Runs].
func (*Lines) Close() {}

// Gist describes a run in a few words.
func Gist(j *results.Judged) string {
	s := fmt.Sprintf("%.0f grants/s", j.Measures.GrantsPerSecond)
	broken := j.Verdicts.Cells().With(checker.Broken)
	switch {
	case j.Err != nil:
		return s + ", " + j.Err.Error()
	case len(broken) > 0:
		return s + ", broke " + CellNames(broken)
	}
	return s + ", broke nothing"
}

// bar redraws one line a few times a second, and removes it at the end.
type bar struct {
	*Lines
	stop, stopped chan struct{}
}

// Sink returns a sink that moves the bar.
func (b *bar) Sink() runner.Sink {
	s := b.Lines.Sink()
	s.Begin = func(of runner.Subject, live func() runner.Progress) { b.begin(of.Label(), live) }
	s.End = b.end
	return s
}

func (b *bar) begin(design string, live func() runner.Progress) {
	b.Name = design
	b.locked(b.clear)
	b.stop, b.stopped = make(chan struct{}), make(chan struct{})
	pb := drawn(b.w, 1000, b.describe(design, live()))
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

// describe is the text before the bar. Violations are the current design's, as far as it is
// judged.
func (b *bar) describe(design string, live runner.Progress) string {
	rate := 0.0
	if live.Elapsed > 0 {
		rate = float64(live.Grants) / live.Elapsed.Seconds()
	}
	return fit(b.w, fmt.Sprintf("%s %-23s %6.0f grants/s, %d violations", b.count(b.Done+1), design, rate, live.Violations))
}

// permille is the completed share of the run; 0 if it has no duration.
func permille(live runner.Progress) int64 {
	share, _ := live.Share()
	// At 1000 the bar would consider itself finished before the design is judged.
	return min(999, int64(1000*share))
}

// end leaves the line of the completed run, cut to the width of the terminal, if the run has a word.
func (b *bar) end(j *results.Judged) {
	b.Close()
	b.Done++
	if b.word != nil {
		b.Say("%s", within(b.w, b.row(j), 1))
	}
}

// Close removes the bar.
func (b *bar) Close() {
	if b.stop != nil {
		close(b.stop)
		<-b.stopped
		b.stop = nil
	}
	b.locked(b.clear)
}
