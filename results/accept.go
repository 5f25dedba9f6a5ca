package results

import (
	"path"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// An Acceptance excuses a broken claim until a given day: a run that breaks the claim does not fail
// for it. It records a known problem and the reason to live with it.
type Acceptance struct {
	// Design is the name of a design, or a pattern as [path.Match] takes it. Cell is the broken
	// claim that is accepted; if it has conditions, cells of its guarantee under further conditions
	// are accepted as well.
	Design string         `json:"design"`
	Cell   lockbench.Cell `json:"cell"`
	// Reason is the reason to accept the violations.
	Reason string `json:"reason"`
	// Until is the last day, in UTC, on which the acceptance counts, as 2027-01-31.
	Until string `json:"until"`
	// Place is the position of the acceptance in its file, as file:line.
	Place string `json:"place"`
	// State is the state at the end of the run, set by [Result.Accept].
	State AcceptanceState `json:"state"`
}

// An AcceptanceState is the state of an acceptance at the end of a run.
type AcceptanceState string

// The states of an acceptance.
const (
	Accepted AcceptanceState = "accepted"
	Expired  AcceptanceState = "expired"
	Stale    AcceptanceState = "stale"
)

// An AcceptedBreak marks a finding with accepted violations. Until is the last day on which the
// acceptance counts, and Reason the reason given for it.
type AcceptedBreak struct {
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

// String returns the mark in the words of reports.
func (a *AcceptedBreak) String() string { return "accepted until " + a.Until + ": " + a.Reason }

// Accept applies acceptances to the runs of r and to the explorations of their [Search], appends
// them to r.Acceptances with their states, and sets the exit codes anew. A broken claim that is
// accepted no longer fails its run. Thresholds still count accepted violations. An acceptance
// counts through its last day; now is read as a day in UTC.
//
// Call Accept after [Result.Conclude], if that is called, and before [Result.Gate].
func (r *Result) Accept(asked []Acceptance, now time.Time) {
	for _, a := range asked {
		met := false
		for i := range r.Runs {
			run := &r.Runs[i]
			if ok, err := path.Match(a.Design, run.Design); !ok || err != nil || run.Control != "" {
				continue
			}
			met = run.accept(&a, a.Counts(now)) || met
		}
		a.Settle(met, now)
		r.Acceptances = append(r.Acceptances, a)
	}
	r.Exit = r.total()
}

// Counts reports whether a accepts violations on the day of now, in UTC.
func (a *Acceptance) Counts(now time.Time) bool { return a.Until >= now.UTC().Format(time.DateOnly) }

// Settle sets the state of a at the end of a run in which what it covers was broken, or was not.
func (a *Acceptance) Settle(met bool, now time.Time) {
	switch {
	case !a.Counts(now):
		a.State = Expired
	case met:
		a.State = Accepted
	default:
		a.State = Stale
	}
}

// accept marks the broken claims of r that a covers, provided that a still counts, and reports
// whether there are any.
func (r *Run) accept(a *Acceptance, counts bool) (met bool) {
	all := []*Cells{&r.Cells}
	if r.Search != nil {
		for i := range r.Search.Parts {
			all = append(all, &r.Search.Parts[i].Cells)
		}
	}
	for _, cells := range all {
		for _, cell := range cells.Names(func(cell lockbench.Cell, f checker.Finding) bool { return f.Against > 0 && a.Covers(cell) }) {
			met = true
			if f := cells.At(cell); counts && f.Accepted == nil {
				f.Accepted = &AcceptedBreak{Until: a.Until, Reason: a.Reason}
				cells.Set(cell, f)
			}
		}
	}
	if met && counts {
		r.Exit = r.excused()
	}
	return met
}

// Covers reports whether a accepts violations of cell. As with exceptions of claims, an accepted
// cell with conditions covers the cells of its guarantee under these and further conditions. An
// accepted cell without conditions covers itself alone.
func (a *Acceptance) Covers(cell lockbench.Cell) bool {
	more := a.Cell.Under != 0 && cell.Guarantee == a.Cell.Guarantee && cell.Under.Has(a.Cell.Under)
	return cell == a.Cell || more
}

// excused returns the exit code of a run with an accepted break. The code of the verdicts may be
// due to that break, so excused computes the code again: without accepted breaks, but with
// everything else that keeps the run from passing.
func (r *Run) excused() int {
	exit := r.Cells.Exit()
	if r.Search.Fails() {
		exit = BrokenClaim
	}
	if len(r.Cells.doubtedClaims()) > 0 {
		exit = worst(exit, Inconclusive)
	}
	return r.counted(exit)
}

// doubtedClaims lists the claimed cells that held but count as untested, because the self-check or
// a probe was not caught.
func (c Cells) doubtedClaims() []lockbench.Cell {
	return c.Names(func(_ lockbench.Cell, f checker.Finding) bool {
		return f.Claimed && f.Verdict == checker.Untested && f.Exposure > 0
	})
}
