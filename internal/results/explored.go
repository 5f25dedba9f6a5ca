package results

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// An Explored is the judgement of one design explored in one scenario, which the workload of its
// header names. It has no measures and no end of a record, since every schedule is a run of its own.
type Explored struct {
	Judged
	Coverage Coverage
	// Schedules holds what shows a cell broken, but for those that another explains: the same
	// guarantee under fewer of the conditions.
	Schedules map[lockbench.Cell]Schedule
	// FoundAfter is the real time until each of them was found, Elapsed that of the
	// whole search.
	FoundAfter map[lockbench.Cell]time.Duration
	Elapsed    time.Duration
	// Lacks is the ability that the scenario needs and the design has not; it was
	// not explored then, which is no fault of anybody.
	Lacks string
}

// Coverage says which schedules of a scenario were run.
type Coverage struct {
	// Strategy is how schedules were chosen; replay: by a file.
	Strategy string   `json:"strategy"`
	Clients  int      `json:"clients"`
	Threads  int      `json:"threads"`
	Rounds   int      `json:"rounds"`
	Faults   int      `json:"faults"`
	Moves    int      `json:"moves"`
	Kinds    []string `json:"kinds,omitempty"`
	// Schedules were run and judged, Pruned is how many branches were left out
	// because one that was not is their equal.
	Schedules int64 `json:"schedules"`
	Pruned    int64 `json:"pruned"`
	// Diverged is how many went another way when they were run again, and were dropped: the
	// lock does what no seed decides.
	Diverged int64 `json:"diverged,omitempty"`
	// Missing are commands that the lock sent and the server of an exploration does not know.
	Missing []string `json:"missing_commands,omitempty"`
	// Complete: every schedule of the scope was run, or is the equal of one.
	// Otherwise Stopped says what ended the search.
	Complete bool   `json:"complete"`
	Stopped  string `json:"stopped,omitempty"`
}

// An Exploration stands in a Run in place of speed when its design was explored.
type Exploration struct {
	Coverage
	// Timings are all of the run that differs between two explorations of one seed
	// that no time budget ends.
	Timings Timings `json:"timings"`
	// Scenarios are those of a run that is of several, of whose coverage it has the sum of
	// schedules.
	Scenarios []Covered `json:"-"`
}

// Timings are real, in ns.
type Timings struct {
	Elapsed    int64                    `json:"elapsed_ns"`
	FoundAfter map[lockbench.Cell]int64 `json:"found_after_ns,omitempty"`
}

// A Schedule is a run of the clients, command by command, that shows something;
// shrunk to what it takes.
type Schedule struct {
	// FoundAt is the number of the schedule that showed it first, from 1.
	FoundAt int64  `json:"found_at"`
	Steps   []Step `json:"steps"`
	// Replay is the file that lockbench explore --replay takes.
	Replay string `json:"replay"`
	// Sentence says what it shows; in JSON it stands in the counterexample.
	Sentence string `json:"-"`
	// File is where Replay was written, empty when it was not.
	File string `json:"-"`
}

// A Step is one step of a Schedule. What does not apply is empty.
type Step struct {
	// At is virtual time since the start, in ns.
	At      int64  `json:"at_ns"`
	Client  string `json:"client"`
	Command string `json:"command,omitempty"`
	Reply   string `json:"reply,omitempty"`
	Fault   string `json:"fault,omitempty"`
	// Holders are the clients that believe they hold a key after it.
	Holders []string `json:"holders,omitempty"`
}

// NewExploration puts explored scenarios together into a Result, one Run each, in
// their order. A cell of a design is judged by all of its scenarios together:
// what one of them leaves untested another may test. notRun names designs that were
// asked for and never started; they make the Result inconclusive.
func NewExploration(runs []Explored, notRun []string) Result {
	r := Result{Runs: make([]Run, 0, len(runs)), NotRun: notRun}
	for i := range runs {
		if i == 0 {
			r.Server, r.Environment = runs[i].Header.Server, runs[i].Header.Environment
		}
		run := explored(&runs[i])
		run.setOwn(&r, &runs[i].Header)
		r.Runs = append(r.Runs, run)
	}
	r.Exit = exploredExit(byDesign(r))
	return r
}

// exploredExit is the exit code of designs that were explored. That none had what
// the scenarios need proves nothing.
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
	run.OverTime, run.GrantsByClient = nil, nil // of thousands of schedules, each with a time of its own
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

// shownBy returns f with the schedule that shows it.
func (f Finding) shownBy(s Schedule) Finding {
	var w checker.Counterexample
	if f.Counterexample != nil {
		w = *f.Counterexample
	}
	w.Sentence = s.Sentence
	f.Schedule, f.Counterexample = &s, &w
	return f
}

// explain gives each broken cell without a schedule the sentence of the cell that explains it, see
// [checker.Explains].
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
