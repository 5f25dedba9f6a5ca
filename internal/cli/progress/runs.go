package progress

import (
	"fmt"
	"io"
	"time"

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

// OfRuns shows a bar on a terminal and lines elsewhere, for a plan with a number of runs, zero if it is
// unknown; nothing if quiet. With a table, a completed run leaves its row.
func OfRuns(w io.Writer, quiet bool, runs int, table *Table) Runs {
	lines := NewLines(w, runs)
	lines.table, lines.lasting = table, table != nil
	switch {
	case quiet:
		lines.w = io.Discard
	case isTerminal(w):
		lines.redrawn = true
		return &bar{Lines: lines}
	}
	return lines
}

// Lines writes a line at the start and the end of every run; with a table, the row of every completed
// run. A run that takes long has a line now and then, too.
type Lines struct {
	writer
	// Total is the number of runs, Done the number of completed ones; Name is the current run.
	Total, Done int
	Name        string

	table         *Table
	started       time.Time // of the first run
	stop, stopped chan struct{}
}

// NewLines returns the lines for a number of runs, zero if it is unknown.
func NewLines(w io.Writer, runs int) *Lines { return &Lines{writer: writer{w: w}, Total: runs} }

// Sink returns a sink that writes the lines.
func (l *Lines) Sink() runner.Sink {
	return runner.Sink{
		Say: l.say, Planned: func(runs int) { l.Total = runs },
		Begin: func(of runner.Subject, live func() runner.Progress) { l.begin(of.Label(), live) }, Found: l.found, End: l.End,
	}
}

func (l *Lines) begin(design string, live func() runner.Progress) {
	l.start(design)
	if l.table == nil {
		l.Say("%s %s ...", l.count(l.Done+1), design)
	}
	l.every(lineInterval, func() {
		now := live()
		share, _ := now.Share()
		l.Say("%s, %.0f%%", l.describe(now), 100*share)
	})
}

func (l *Lines) start(design string) {
	l.Name = design
	if l.started.IsZero() {
		l.started = time.Now()
	}
}

// lineInterval is the interval between two lines of a run.
const lineInterval = 30 * time.Second

// every calls do at each interval, until Close.
func (l *Lines) every(interval time.Duration, do func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	l.stop, l.stopped = stop, stopped
	go func() {
		defer close(stopped)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				do()
			}
		}
	}()
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
	l.Close()
	l.Done++
	if l.table == nil {
		l.Say("%s %s: %s", l.count(l.Done), l.Name, Gist(j))
		return
	}
	for _, line := range l.table.lines(l.Name, j) {
		l.Say("%s", within(l.w, line, 1))
	}
}

// count is the number of a run, and the total if it is known.
func (l *Lines) count(n int) string {
	if l.Total == 0 {
		return fmt.Sprintf("[%d]", n)
	}
	return fmt.Sprintf("[%d/%d%s]", n, l.Total, left(l.started, float64(l.Done)/float64(l.Total)))
}

// describe is the text on the current run. Violations are the current design's, as far as it is judged.
func (l *Lines) describe(live runner.Progress) string {
	rate := 0.0
	if live.Elapsed > 0 {
		rate = float64(live.Grants) / live.Elapsed.Seconds()
	}
	return fmt.Sprintf("%s %-23s %6.0f grants/s, %d violations", l.count(l.Done+1), l.Name, rate, live.Violations)
}

// Close implements [Runs].
func (l *Lines) Close() {
	if l.stop != nil {
		close(l.stop)
		<-l.stopped
		l.stop = nil
	}
}

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
type bar struct{ *Lines }

// Sink returns a sink that moves the bar.
func (b *bar) Sink() runner.Sink {
	s := b.Lines.Sink()
	s.Begin = func(of runner.Subject, live func() runner.Progress) { b.begin(of.Label(), live) }
	s.End = b.end
	return s
}

func (b *bar) begin(design string, live func() runner.Progress) {
	b.start(design)
	b.locked(b.clear)
	pb := drawn(b.w, 1000, fit(b.w, b.describe(live())))
	b.every(redraw, func() {
		b.locked(func() {
			pb.Describe(fit(b.w, b.describe(live())))
			_ = pb.Set64(permille(live()))
		})
	})
}

func (b *bar) locked(draw func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	draw()
}

// permille is the completed share of the run; 0 if it has no duration.
func permille(live runner.Progress) int64 {
	share, _ := live.Share()
	// At 1000 the bar would consider itself finished before the design is judged.
	return min(999, int64(1000*share))
}

// end leaves the row of the completed run, if there is a table.
func (b *bar) end(j *results.Judged) {
	b.Close()
	if b.table == nil {
		b.Done++
		return
	}
	b.End(j)
}

// Close removes the bar.
func (b *bar) Close() {
	b.Lines.Close()
	b.locked(b.clear)
}
