package locktest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/results"
	"github.com/lockbench/lockbench/reports"
)

// Err returns the errors that Explore would fail with: one for each cell that is claimed and was
// broken, or stayed untested although it was exercised; and one for Defects. It is nil if there
// is none, or if the lock needs commands that the server lacks.
func (r Result) Err() error {
	errs := []error{r.contradiction()}
	for _, f := range r.ordered() {
		errs = append(errs, r.judge(f))
	}
	return errors.Join(errs...)
}

// ordered returns the findings, the root cause first.
func (r Result) ordered() []Finding {
	root, found := r.root()
	if !found {
		return r.Findings
	}
	all := []Finding{root}
	for _, f := range r.Findings {
		if f.Cell != root.Cell {
			all = append(all, f)
		}
	}
	return all
}

// root returns the finding to start with, out of those that count against the claims, see
// [checker.Cells.First]; false if there is none.
func (r Result) root() (root Finding, found bool) {
	cells, steps := r.cells(), map[lockbench.Cell]int{}
	for _, f := range r.Findings {
		if f.schedule != nil {
			steps[f.Cell] = f.steps()
		}
	}
	fails := func(cell lockbench.Cell) bool { return cells[cell].Against > 0 }
	first, found := cells.First(fails, func(cell lockbench.Cell) int { return steps[cell] })
	if !found || !fails(first) {
		return root, false
	}
	at, _ := r.place(first)
	return r.Findings[at], true
}

// contradiction returns an error if r is worthless because lockbench contradicts itself.
func (r Result) contradiction() error {
	if len(r.Defects) == 0 {
		return nil
	}
	return fmt.Errorf("nothing here is to be relied on, lockbench contradicts itself: %s", strings.Join(r.Defects, "; "))
}

// judge returns the error of f, nil for none.
func (r Result) judge(f Finding) error {
	switch {
	case r.missing() != "":
		return nil
	case f.Against > 0:
		return fmt.Errorf("%s", r.text(f))
	case f.Claimed && f.Exercised && f.Verdict == checker.Untested && r.lacks(f.Cell) == "":
		return fmt.Errorf("%s: untested, %s; hint: raise %s", f.Cell, f.Note, budgetVariable)
	}
	return nil
}

// missing names the commands of the lock that the server does not know, empty for none. They may
// be the cause of any breach.
func (r Result) missing() string {
	for _, c := range r.coverage {
		if len(c.Lacks) > 0 {
			return "the server of the exploration has no " + strings.Join(c.Lacks, ", ") + ", so that this proves nothing"
		}
	}
	return ""
}

// lacks says why cell does not apply to the lock, empty if it does.
func (r Result) lacks(cell lockbench.Cell) string {
	if cell.Under.Has(lockbench.Skew) && !r.clock {
		return "the lock does not read the clock of its environment, Env.Now: only that is skewed"
	}
	if cell.Guarantee == lockbench.WakeUp && !r.abilities.waits {
		return "the lock does not wait as it is told, by Options.Wait: its waits are made of single tries here"
	}
	return r.abilities.lacks(cell)
}

// passed reports whether f is a success.
func (r Result) passed(f Finding) bool { return r.lacks(f.Cell) == "" && f.Verdict == checker.Held }

// text returns the finding in a line or, with a schedule, in a page.
func (r Result) text(f Finding) string {
	if why := r.lacks(f.Cell); why != "" && f.Violations == 0 {
		return why
	}
	parts := []string{f.Verdict.String()}
	if missing := r.missing(); missing != "" && f.Violations > 0 {
		parts = append(parts, missing)
	}
	if f.Note != "" {
		parts = append(parts, f.Note)
	}
	switch {
	case f.Violations > 0:
		parts = append(parts, fmt.Sprintf("shown by %d schedules", f.Violations))
	case f.Verdict == checker.Held:
		parts = append(parts, fmt.Sprintf("exposed %d times", f.Exposure))
	}
	parts = append(parts, unclaimed(&f.Finding)...)
	if f.Scenario != "" && f.schedule != nil {
		parts = append(parts, "the shortest in "+f.Scenario)
	}
	if by, ok := r.explained(f); ok {
		parts = append(parts, "the schedule is that of "+by.String())
	}
	text := strings.Join(parts, "; ")
	root, found := r.root()
	switch {
	case f.schedule == nil:
		return text
	case found && f.Cell == root.Cell:
		text = "start here: " + text
	case found:
		return fmt.Sprintf("%s; start with %s\n%s\n%s", text, root.Cell, f.schedule.Sentence, r.again(f))
	}
	return fmt.Sprintf("%s\n%s\n%s%s", text, f.schedule.Sentence, table(f.schedule.Rows), r.again(f))
}

// explained returns the cell that explains why f is broken, if f has no schedule of its own.
func (r Result) explained(f Finding) (lockbench.Cell, bool) {
	if f.schedule != nil {
		return lockbench.Cell{}, false
	}
	return r.cells().Explained(f.Cell)
}

// table draws a schedule, one row per step.
func table(rows []explore.Row) string {
	steps := make([]results.Step, len(rows))
	for i, row := range rows {
		steps[i] = results.Step{
			At: int64(row.At), Client: row.Client, Command: row.Command,
			Reply: row.Reply, Fault: row.Fault, Holders: row.Holders,
		}
	}
	var b strings.Builder
	_ = reports.Steps(&b, steps) // a Builder never fails
	return b.String()
}

// Covered describes the extent of the exploration, one line per scenario and file.
func (r Result) Covered() string {
	var b strings.Builder
	fmt.Fprintf(&b, "explored with seed %d", r.seed)
	for _, c := range r.coverage {
		fmt.Fprintf(&b, "\n  %-15s %s", c.Scenario, c.Sentence())
	}
	for _, s := range r.Again {
		fmt.Fprintf(&b, "\n  %s", s)
	}
	return b.String()
}
