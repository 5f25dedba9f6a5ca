package reports

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
)

// TerminalExploration writes an exploration for people: the table of guarantees, what was
// covered, every broken cell with the schedule that breaks it, claimed ones first, and the outcome in one sentence. It returns the
// first error of w.
func TerminalExploration(w io.Writer, r Result, opt TerminalOptions) error {
	merged := byDesign(r)
	e := exploration{
		terminal: terminal{
			page: newPage(w, opt), result: &merged, label: newLabel(merged.Runs),
			exercisedBy: "these scenarios and faults", unit: "exploration",
		},
		scenarios: r.Runs,
		width:     opt.Width,
	}
	e.thresholds()
	e.heading()
	if len(merged.Runs) > 0 {
		e.table()
		e.covered()
	}
	e.troubles()
	e.broken()
	e.open()
	e.notExercised()
	e.outcome()
	return e.Flush()
}

// exploration is a report being written: the result holds one run per design,
// scenarios those that they were made of.
type exploration struct {
	terminal
	scenarios []Run
	width     int
}

func (e *exploration) heading() {
	if len(e.scenarios) == 0 {
		return
	}
	first := &e.scenarios[0]
	parts := append([]string{"exploring"}, settings(first.Params)...)
	parts = append(parts, fmt.Sprintf("seed %d", first.Seed))
	e.printf("%s\n", strings.Replace(strings.Join(parts, ", "), ",", "", 1))
	if kinds := first.Exploration.Kinds; len(kinds) > 0 && first.Exploration.Faults > 0 {
		e.printf("faults: %s\n", strings.Join(kinds, ", "))
	}
	e.printf("server: %s, %s, in virtual time\n", e.result.Server.Kind, e.result.Server.Version)
}

// table writes the verdicts.
func (e *exploration) table() {
	table := e.result.Guarantees()
	e.printf("\n")
	e.writeTable(&table, e.width)
}

// covered says of each design what was explored; scenarios of one scope share a
// line.
func (e *exploration) covered() {
	e.printf("\n%s\n", e.bold("covered"))
	width := 0
	for i := range e.result.Runs {
		width = max(width, len(e.result.Runs[i].Design))
	}
	for i := range e.result.Runs {
		name := e.result.Runs[i].Design
		for _, line := range coverage(e.scenarios, name, len(e.result.Runs) == 1) {
			e.printf("  %-*s  %s\n", width, name, line)
			name = ""
		}
	}
}

// coverage describes the scenarios of a design, one line per scope; inFull: by
// name, however many they are.
func coverage(runs []Run, design string, inFull bool) []string {
	var scopes []*scope
	for i := range runs {
		run := &runs[i]
		if run.Design != design || run.lacks {
			continue
		}
		name := scopeOf(run.Exploration)
		at := slices.IndexFunc(scopes, func(s *scope) bool { return s.name == name })
		if at < 0 {
			at = len(scopes)
			scopes = append(scopes, &scope{name: name, complete: run.Exploration.Complete})
		}
		scopes[at].add(run)
	}
	var lines []string
	for _, s := range scopes {
		lines = append(lines, s.sentence(inFull))
	}
	return lines
}

// A scope is what several scenarios were explored for.
type scope struct {
	name      string
	complete  bool
	scenarios []string
	schedules int64
	elapsed   int64
}

func (s *scope) add(run *Run) {
	s.scenarios = append(s.scenarios, run.Workload)
	s.schedules += run.Exploration.Schedules
	s.elapsed += run.Exploration.Timings.Elapsed
}

func (s *scope) sentence(inFull bool) string {
	count := plural(s.schedules, "schedule") + " of an unknown number"
	switch {
	case s.schedules == 0:
		count = "no schedule"
	case strings.HasPrefix(s.name, Replay):
		count = plural(s.schedules, "schedule")
	case s.complete:
		count = "all " + plural(s.schedules, "schedule")
	}
	scenarios := strings.Join(s.scenarios, ", ")
	if len(s.scenarios) > fewScenarios && !inFull {
		scenarios = plural(int64(len(s.scenarios)), "scenario")
	}
	return fmt.Sprintf("%s: %s in %s (%s)", s.name, count, compact(s.elapsed), scenarios)
}

// fewScenarios are named even where there are many designs.
const fewScenarios = 3

func scopeOf(x *Exploration) string {
	strategy := x.Strategy
	if strategy == "" {
		return "not explored"
	}
	parts := []string{plural(int64(x.Clients), "client")}
	if x.Threads > 1 {
		parts = append(parts, plural(int64(x.Threads), "thread")+" a process")
	}
	parts = append(parts, plural(int64(x.Rounds), "round"))
	if strategy != Replay {
		parts = append(parts, plural(int64(x.Faults), "fault"), plural(int64(x.Moves), "time move"))
	}
	if x.Stopped != "" && !x.Complete {
		parts = append(parts, "ended by "+ending(x.Stopped))
	}
	return strategy + ": " + strings.Join(parts, ", ")
}

// ending names what ended a search.
func ending(stopped string) string {
	switch stopped {
	case "budget":
		return "the time budget"
	case "schedules":
		return "the limit on schedules"
	case "interrupted":
		return "interruption"
	case "clock":
		return "the end of virtual time"
	}
	return stopped
}

// broken writes one section per design that broke something.
func (e *exploration) broken() {
	for i := range e.result.Runs {
		run := &e.result.Runs[i]
		names := run.Cells.Broken()
		if len(names) == 0 {
			continue
		}
		e.printf("\n%s broke %s\n", e.bold(run.Design), list(names))
		drawn := make(map[lockbench.Cell]*Schedule)
		for _, cell := range names {
			e.brokenCell(run, cell, drawn)
		}
	}
}

// brokenCell writes one broken cell and the schedule that breaks it, or says where that
// stands already.
func (e *exploration) brokenCell(run *Run, cell lockbench.Cell, drawn map[lockbench.Cell]*Schedule) {
	f := run.Cells[cell]
	e.printf("\n  %s, %s\n    %s\n    by %s in %s\n", e.bad(cell.String()), cell.Under.Title(), e.claim(run, cell),
		plural(f.Violations, "schedule"), strings.Join(f.scenarios, ", "))
	if f.Counterexample != nil {
		e.printf("    %s\n", f.Counterexample.Sentence)
	}
	if f.Note != "" {
		e.printf("    %s\n", f.Note)
	}
	if f.Schedule == nil {
		return
	}
	for other, s := range drawn {
		if reflect.DeepEqual(s.Steps, f.Schedule.Steps) {
			e.printf("    by the steps shown for %s\n", other)
			e.again(f.Schedule)
			return
		}
	}
	drawn[cell] = f.Schedule
	e.printf("    %s, found by schedule %s\n\n", scenario(f), number(f.Schedule.FoundAt))
	writeSteps(e.Writer, e.palette, collapsed(f.Schedule.Steps))
	e.printf("\n")
	e.again(f.Schedule)
}

func (e *exploration) again(s *Schedule) {
	if s.File != "" {
		e.printf("    run it again: lockbench explore --replay %s\n", quote(s.File))
	}
}

// scenario names the one whose schedule stands for g.
func scenario(g Finding) string {
	if len(g.scenarios) == 0 {
		return "scenario unknown"
	}
	return "scenario " + g.scenarios[0]
}
