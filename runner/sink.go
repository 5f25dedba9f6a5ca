package runner

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/results"
)

// A Sink receives the progress of runs. Any of its functions may be nil. The judging goroutine
// calls the functions from Opened to Closed, and waits for them; the goroutine of [Run] calls the
// others. Only Say may be called by several goroutines at once. The self-check calls Say only.
type Sink struct {
	// Say receives a line of text for people.
	Say func(text string)
	// Planned receives the number of runs once it is known. It is not called for a search, which
	// does not know it.
	Planned func(runs int)
	// Begin receives the subject of the next run, and a function that returns the progress of the
	// run. That function may be called at any time and by any goroutine.
	Begin func(of Subject, progress func() Progress)

	// Opened receives the header of a judged history.
	Opened func(history.Header)
	// Event receives each event of the history before it is judged.
	Event func(history.Event)
	// Found receives the first violation of each cell, with its time since the start of the run.
	Found func(f checker.CellFinding, at time.Duration)
	// SoFar receives snapshots of the judgement, again and again during a run.
	SoFar func(Snapshot)
	// Closed receives the end of the history. The last events may not be judged yet.
	Closed func(history.End)

	// End receives the judgement of the run.
	End func(*results.Judged)
}

// say formats a line and passes it to Say.
func (s *Sink) say(format string, args ...any) { s.Say(fmt.Sprintf(format, args...)) }

// join returns a sink that passes everything to all sinks, in order. Of its functions only Event
// may be nil, to save a call for every event.
func join(all ...Sink) Sink {
	one := Sink{
		Say: func(string) {}, Planned: func(int) {}, Begin: func(Subject, func() Progress) {},
		Opened: func(history.Header) {}, Found: func(checker.CellFinding, time.Duration) {},
		SoFar: func(Snapshot) {}, Closed: func(history.End) {}, End: func(*results.Judged) {},
	}
	for _, s := range all {
		one.Say, one.Planned, one.Begin = both(one.Say, s.Say), both(one.Planned, s.Planned), both2(one.Begin, s.Begin)
		one.Opened, one.Event, one.Closed = both(one.Opened, s.Opened), both(one.Event, s.Event), both(one.Closed, s.Closed)
		one.Found, one.SoFar, one.End = both2(one.Found, s.Found), both(one.SoFar, s.SoFar), both(one.End, s.End)
	}
	return one
}

// both returns a function that calls first and then second. If one of the two is nil, both returns
// the other.
func both[A any](first, second func(A)) func(A) {
	switch {
	case second == nil:
		return first
	case first == nil:
		return second
	}
	return func(a A) {
		first(a)
		second(a)
	}
}

// both2 is like both for functions of two arguments; first must not be nil.
func both2[A, B any](first, second func(A, B)) func(A, B) {
	if second == nil {
		return first
	}
	return func(a A, b B) {
		first(a, b)
		second(a, b)
	}
}

// A Progress is the progress of a run, at most a tenth of a second old.
type Progress struct {
	// Elapsed is the time since the clients began, and Length the planned duration of the run; zero
	// if it ends after a number of operations.
	Elapsed, Length time.Duration
	// Grants counts the granted acquires, Refused the refused ones, and Failed the operations of
	// any kind that failed or got no answer. Violations counts the violations found so far.
	Grants, Refused, Failed, Violations int64
}

// Share returns the completed share of the run, 0 to 1, and false if the run ends after a number of
// operations.
func (p Progress) Share() (share float64, known bool) {
	if p.Length <= 0 {
		return 0, false
	}
	return min(1, float64(p.Elapsed)/float64(p.Length)), true
}

// progressOf returns the current progress of a run.
func progressOf(live *load.Progress) Progress {
	p := Progress{
		Length: time.Duration(live.Duration.Load()),
		Grants: live.Grants.Load(), Refused: live.Refused.Load(), Failed: live.Failed.Load(), Violations: live.Violations.Load(),
	}
	if started := live.Started.Load(); started != 0 {
		p.Elapsed = time.Since(time.Unix(0, started))
	}
	return p
}

// A Snapshot is the state of the judgement of a run. It is valid only until the function that
// takes it returns.
type Snapshot struct {
	checker *checker.Checker
	figures *measure.Collector
	others  []*shareSoFar // of the same run; none if one machine makes it
}

// Verdicts returns the verdicts on the events so far.
func (s Snapshot) Verdicts() checker.Result {
	all := []checker.Result{s.checker.SoFar()}
	for _, o := range s.others {
		all = append(all, o.verdicts)
	}
	return checker.Join(all...)
}

// Measures returns the measures of the events so far.
func (s Snapshot) Measures() *measure.Measures {
	if len(s.others) == 0 {
		return s.figures.SoFar()
	}
	all := []measure.Measures{*s.figures.SoFar()}
	for _, o := range s.others {
		all = append(all, o.figures)
	}
	joined := measure.Join(all...)
	return &joined
}
