package runner

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/load"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/results"
)

// A Sink is informed of the progress of runs. Functions that are nil are left out. The
// judging goroutine calls the functions from Opened to Closed, and waits for them; the
// goroutine of [Run] calls the others. Only Say may be called by several goroutines at a
// time. The self-check calls Say alone.
type Sink struct {
	// Say takes a line for people.
	Say func(text string)
	// Planned takes the number of runs, once it is known; a search does not know it.
	Planned func(runs int)
	// Begin takes the subject of the next run, and a function that returns its progress, at
	// any time and for any goroutine.
	Begin func(of Subject, progress func() Progress)

	// Opened takes the header of a judged history.
	Opened func(history.Header)
	// Event takes each of its events, before it is judged.
	Event func(history.Event)
	// Found takes a violation, once per cell, with its time in the run.
	Found func(f checker.CellFinding, at time.Duration)
	// SoFar takes, again and again during a run, a snapshot of its judgement.
	SoFar func(Snapshot)
	// Closed takes the end of the history. Some of it may not be judged yet.
	Closed func(history.End)

	// End takes the judgement of the run.
	End func(*results.Judged)
}

// say formats a line for Say.
func (s *Sink) say(format string, args ...any) { s.Say(fmt.Sprintf(format, args...)) }

// join returns a sink that informs all of them, in order. Of its functions only Event may be
// nil: it would be called for every event.
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

// both calls one function after the other. Either may be nil.
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

// both2 is both for functions of two arguments.
func both2[A, B any](first, second func(A, B)) func(A, B) {
	if second == nil {
		return first
	}
	return func(a A, b B) {
		first(a, b)
		second(a, b)
	}
}

// Progress is the progress of a run, at most a tenth of a second old.
type Progress struct {
	// Elapsed is how long the clients have been running, Length how long they will; a zero
	// Length is until they are done.
	Elapsed, Length time.Duration
	// Grants and Refused count acquires, Failed operations of any kind that failed or got no
	// answer, Violations the violations found so far.
	Grants, Refused, Failed, Violations int64
}

// Share is the completed share of a run, 0 to 1. It is unknown for a run of a number of
// operations.
func (p Progress) Share() (share float64, known bool) {
	if p.Length <= 0 {
		return 0, false
	}
	return min(1, float64(p.Elapsed)/float64(p.Length)), true
}

// progressOf reads the progress of a run.
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
}

// Verdicts are the verdicts on the events so far.
func (s Snapshot) Verdicts() checker.Result { return s.checker.SoFar() }

// Measures are the measures of the events so far.
func (s Snapshot) Measures() *measure.Measures { return s.figures.SoFar() }
