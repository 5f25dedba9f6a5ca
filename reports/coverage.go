package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// covered returns a description of the exploration of each design; scenarios with the same scope
// share a line.
func covered(designs, scenarios []results.Run) *document.List {
	l := &document.List{Title: "covered"}
	for i := range designs {
		name := designs[i].Design
		for _, line := range coverage(scenarios, name, len(designs) == 1) {
			l.Items = append(l.Items, document.Item{Name: name, Text: line})
			name = strings.Repeat(" ", len(name))
		}
	}
	return l
}

// coverage returns a description of the scenarios of a design, one line per scope. With inFull it
// names all scenarios, even if they are many.
func coverage(runs []results.Run, design string, inFull bool) []string {
	var scopes []*scope
	for i := range runs {
		run := &runs[i]
		if run.Design != design || run.Lacks {
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

// A scope groups explored scenarios with the same bounds on their schedules.
type scope struct {
	name      string
	complete  bool
	scenarios []string
	schedules int64
	elapsed   int64
	diverged  int64
	missing   []string // commands
}

func (s *scope) add(run *results.Run) {
	s.scenarios = append(s.scenarios, run.Workload)
	s.schedules += run.Exploration.Schedules
	s.elapsed += run.Exploration.Timings.Elapsed
	s.diverged += run.Exploration.Diverged
	for _, command := range run.Exploration.Missing {
		if !slices.Contains(s.missing, command) {
			s.missing = append(s.missing, command)
		}
	}
}

func (s *scope) sentence(inFull bool) string {
	count := figures.Plural(s.schedules, "schedule") + " of an unknown number"
	switch {
	case s.schedules == 0:
		count = "no schedule"
	case strings.HasPrefix(s.name, results.Replay):
		count = figures.Plural(s.schedules, "schedule")
	case s.complete:
		count = "all " + figures.Plural(s.schedules, "schedule")
	}
	scenarios := strings.Join(s.scenarios, ", ")
	if len(s.scenarios) > fewScenarios && !inFull {
		scenarios = figures.Plural(int64(len(s.scenarios)), "scenario")
	}
	text := fmt.Sprintf("%s: %s in %s (%s)", s.name, count, figures.Compact(s.elapsed), scenarios)
	if s.diverged > 0 {
		text += "; " + figures.Plural(s.diverged, "schedule") + " went another way when run again, and were dropped"
	}
	if len(s.missing) > 0 {
		text += "; the server has no " + strings.Join(s.missing, ", ")
	}
	return text
}

// fewScenarios is the number of scenarios that are named even if there are many designs.
const fewScenarios = 3

func scopeOf(x *results.Exploration) string {
	strategy := x.Strategy
	if strategy == "" {
		return "not explored"
	}
	parts := []string{figures.Plural(int64(x.Clients), "client")}
	if x.Threads > 1 {
		parts = append(parts, figures.Plural(int64(x.Threads), "thread")+" a process")
	}
	parts = append(parts, figures.Plural(int64(x.Rounds), "round"))
	if strategy != results.Replay {
		parts = append(parts, figures.Plural(int64(x.Faults), "fault"), figures.Plural(int64(x.Moves), "time move"))
	}
	if x.Stopped != "" && !x.Complete {
		parts = append(parts, "ended by "+ending(x.Stopped))
	}
	return strategy + ": " + strings.Join(parts, ", ")
}

// ending returns the reason for the end of an exploration, in words.
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
