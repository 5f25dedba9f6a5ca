package results

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// An Explored is the judgement of one design explored in one scenario; its Header.Workload is the
// name of the scenario. It has no measures and no end of a record, since every schedule is a run of
// its own.
type Explored struct {
	Judged
	// Coverage describes the schedules that were run.
	Coverage Coverage
	// Schedules has a schedule for each broken cell, except for cells that another broken cell
	// explains, see [checker.Explains].
	Schedules map[lockbench.Cell]Schedule
	// FoundAfter is the real time until the first violation of each broken cell, and Elapsed the
	// real time of the whole exploration.
	FoundAfter map[lockbench.Cell]time.Duration
	Elapsed    time.Duration
	// Lacks is the ability that the scenario needs and the design lacks, empty if there is none.
	// With one, the scenario was not explored, which does not fail the run.
	Lacks string
}

// Coverage describes the schedules of a scenario that were run. The schedules are bounded: they
// have Clients clients in processes of Threads threads. Each client runs the scenario Rounds times,
// with at most Faults faults, of the kinds in Kinds, and at most Moves moves of time in a schedule.
type Coverage struct {
	// Strategy is the way in which schedules were chosen; it is [Replay] if a file gave the only
	// one.
	Strategy string   `json:"strategy"`
	Clients  int      `json:"clients"`
	Threads  int      `json:"threads"`
	Rounds   int      `json:"rounds"`
	Faults   int      `json:"faults"`
	Moves    int      `json:"moves"`
	Kinds    []string `json:"kinds,omitempty"`
	// Schedules is the number of schedules that were run and judged. Pruned is the number of
	// branches left out because they are equivalent to one that was run.
	Schedules int64 `json:"schedules"`
	Pruned    int64 `json:"pruned"`
	// Diverged is the number of schedules that were dropped because they took a different course
	// when they were run again: the behaviour of the lock depends on more than the seed.
	Diverged int64 `json:"diverged,omitempty"`
	// Missing are the commands sent by the lock that the server of explorations does not implement.
	Missing []string `json:"missing_commands,omitempty"`
	// Complete reports whether every schedule within the bounds was run, or an equivalent one. If
	// not, Stopped is the reason why the exploration ended.
	Complete bool   `json:"complete"`
	Stopped  string `json:"stopped,omitempty"`
}

// An Exploration is the part of a [Run] that replaces its speed if its design was explored.
type Exploration struct {
	Coverage
	// Timings are the only part of the run that differs between two explorations with one seed and
	// without a time budget.
	Timings Timings `json:"timings"`
	// Scenarios are the scenarios of a run that combines several; its own Coverage then has the sum
	// of their schedules only.
	Scenarios []Covered `json:"-"`
}

// Timings are real times, in ns: the time of the whole exploration, and the time until the first
// violation of each broken cell.
type Timings struct {
	Elapsed    int64                    `json:"elapsed_ns"`
	FoundAfter map[lockbench.Cell]int64 `json:"found_after_ns,omitempty"`
}

// A Schedule is an order of commands, faults and moves of time that breaks a cell. It is shrunk to
// the steps that the violation needs.
type Schedule struct {
	// FoundAt is the number, from 1, of the first schedule of the exploration that broke the cell.
	FoundAt int64  `json:"found_at"`
	Steps   []Step `json:"steps"`
	// Replay is the text of a file; lockbench explore --replay repeats the schedule from it.
	Replay string `json:"replay"`
	// Sentence describes the violation. In JSON it is part of the counterexample.
	Sentence string `json:"-"`
	// File is the path to which Replay was written, empty if it was not.
	File string `json:"-"`
	// Arguments are the words of a shell that --replay needs besides the file, empty for none.
	Arguments string `json:"-"`
}

// A Step is one step of a Schedule: a command of Client with the reply of the server, in the
// notation of the service, or the name of an injected fault. Fields that do not apply are empty.
type Step struct {
	// At is the virtual time since the start of the schedule, in ns.
	At      int64  `json:"at_ns"`
	Client  string `json:"client"`
	Command string `json:"command,omitempty"`
	Reply   string `json:"reply,omitempty"`
	Fault   string `json:"fault,omitempty"`
	// Holders are the clients that believe they hold a key after the step.
	Holders []string `json:"holders,omitempty"`
}

// NewExploration returns a Result with one Run for each explored scenario, in the same order. The
// exit code judges each cell of a design by all its scenarios together: a cell that one scenario
// leaves untested may be tested by another. notRun names designs that were requested and never
// started; they make the Result inconclusive.
func NewExploration(runs []Explored, notRun []string) Result {
	r := Result{Runs: make([]Run, 0, len(runs)), NotRun: notRun}
	for i := range runs {
		r.append(explored(&runs[i]), &runs[i].Header)
	}
	r.Exit = exploredExit(byDesign(r))
	return r
}

// exploredExit returns the exit code of an exploration with one run per design. It is inconclusive
// if no design has the abilities that its scenarios need.
func exploredExit(r Result) int {
	var exits []int
	for _, run := range r.Runs {
		if !run.Lacks {
			exits = append(exits, run.Exit)
		}
	}
	if len(exits) == 0 || len(r.NotRun) > 0 {
		exits = append(exits, Inconclusive)
	}
	return worst(exits...)
}

func explored(e *Explored) Run {
	run := newRun(&e.Judged)
	run.OverTime, run.GrantsByClient = nil, nil // thousands of schedules have no common time axis
	run.Exploration = &Exploration{Coverage: e.Coverage, Timings: Timings{Elapsed: int64(e.Elapsed)}}
	if len(e.FoundAfter) > 0 {
		run.Exploration.Timings.FoundAfter = make(map[lockbench.Cell]int64)
	}
	for cell, d := range e.FoundAfter {
		run.Exploration.Timings.FoundAfter[cell] = int64(d)
	}
	for cell, s := range e.Schedules {
		run.Cells.Set(cell, run.Cells.At(cell).shownBy(s))
	}
	run.Cells.explain()
	switch {
	case e.Lacks != "":
		run.Lacks, run.Exit = true, Passed
		run.Notes = []string{fmt.Sprintf("scenario %s needs the ability to %s, which the design has not", e.Header.Workload, e.Lacks)}
	case e.Coverage.Schedules == 0:
		run.Exit = worst(run.Exit, Inconclusive)
	case e.Coverage.Strategy == Replay:
		run.Exit = run.exit()
	}
	return run
}

// shownBy returns f with s as the schedule that shows its violation.
func (f Finding) shownBy(s Schedule) Finding {
	var w checker.Counterexample
	if f.Counterexample != nil {
		w = *f.Counterexample
	}
	w.Sentence = s.Sentence
	f.Schedule, f.Counterexample = &s, &w
	return f
}

// explain gives each broken cell without a counterexample the sentence of the cell that explains
// it, see [checker.Explains].
func (c Cells) explain() {
	for _, cell := range c.With(checker.Broken) {
		by, found := c.Explained(cell)
		if f := c.Cells[cell]; found && f.Counterexample == nil && c.Shown[by].Schedule != nil {
			f.Counterexample = &checker.Counterexample{Sentence: c.Cells[by].Counterexample.Sentence}
			f.Note = strings.TrimPrefix(f.Note+"; ", "; ") + "explained by the schedule of " + by.String()
			c.Cells[cell] = f
		}
	}
}
