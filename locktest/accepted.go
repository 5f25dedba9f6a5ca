package locktest

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/accept"
	"github.com/lockbench/lockbench/results"
)

// WithAccepted takes the accepted breaks of the lock from a file: a list in YAML of cells, each with
// the reason to live with it and the last day on which that counts. A claim that is broken and
// accepted skips its subtest and says why; it fails from the next day on. A cell with conditions
// accepts the cells of its guarantee under further conditions, too; one without accepts itself alone.
// A wrong file fails the test before anything runs.
func WithAccepted(file string) Option {
	return option(func(s *settings) {
		s.accepted, s.unreadable = accept.LoadLock(file)
		if s.unreadable != nil {
			s.unreadable = fmt.Errorf("WithAccepted(%q): %w", file, s.unreadable)
		}
	})
}

// accept marks the broken claims that are accepted on the day of now, and notes each acceptance that
// is over, or that nothing needed.
func (r *Result) accept(all []results.Acceptance, now time.Time) {
	for _, a := range all {
		met := false
		for cell, f := range r.Cells {
			if f.Against == 0 || !a.Covers(cell) {
				continue
			}
			met = true
			if a.Counts(now) {
				test := r.Tests[cell]
				test.Accepted = &results.AcceptedBreak{Until: a.Until, Reason: a.Reason}
				r.Tests[cell] = test
			}
		}
		switch a.Settle(met, now); a.State {
		case results.Expired:
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s is accepted no longer, since %s is over", a.Place, a.Cell, a.Until))
		case results.Stale:
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s was not broken, so nothing needs to accept it", a.Place, a.Cell))
		}
	}
}

// folded reports whether a cell has no subtest of its own, but a place in the summary: nothing was
// claimed of it and nothing broke, or the lock cannot do what it takes. A claim that only a slow machine
// left untested is not folded.
func (r *Result) folded(cell lockbench.Cell) bool {
	f, test := r.Cells[cell], r.Tests[cell]
	if test.Err != nil || f.Violations > 0 || f.Verdict == checker.Held || f.Claimed && test.starved {
		return false
	}
	return test.Skipped != "" || !f.Claimed || f.Verdict == checker.NotApplicable
}

// notTried lists the folded cells, each with its reason; it is empty if there are none.
func (r *Result) notTried() string {
	var lines []string
	for _, cell := range r.ordered() {
		if r.folded(cell) {
			lines = append(lines, cell.String()+": "+r.line(cell))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "not for this lock, or not tried:\n" + strings.Join(lines, "\n")
}

// summary returns the outcome in a line, with the names of the cells that ask for a look.
func (r *Result) summary() string {
	var held, broken, accepted, unclaimed, untested, folded []string
	for _, cell := range r.ordered() {
		f, test := r.Cells[cell], r.Tests[cell]
		list := &untested
		switch {
		case test.Accepted != nil:
			list = &accepted
		case f.Against > 0:
			list = &broken
		case f.Violations > 0:
			list = &unclaimed
		case f.Verdict == checker.Held:
			list = &held
		case r.folded(cell):
			list = &folded
		}
		*list = append(*list, cell.String())
	}
	parts := []string{fmt.Sprintf("%d held", len(held))}
	add := func(cells []string, what string, named bool) {
		if len(cells) > 0 {
			text := fmt.Sprintf("%d %s", len(cells), what)
			if named {
				text += " (" + strings.Join(cells, ", ") + ")"
			}
			parts = append(parts, text)
		}
	}
	add(broken, "broken", true)
	add(accepted, "accepted", true)
	add(unclaimed, "broken, and not claimed", true)
	add(untested, "untested", true)
	add(folded, "not for this lock, or not tried", false)
	return strings.Join(parts, ", ")
}
