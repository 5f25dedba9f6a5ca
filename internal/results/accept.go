package results

import (
	"path"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// An Acceptance is a broken claim that fails nothing until a day: somebody knows of it, and has a
// reason.
type Acceptance struct {
	// Design is a name or a glob, Cell what is broken; see covers.
	Design string         `json:"design"`
	Cell   lockbench.Cell `json:"cell"`
	Reason string         `json:"reason"`
	// Until is the last day on which it counts, in UTC: 2027-01-31.
	Until string `json:"until"`
	// Place is where it is written, file:line.
	Place string `json:"place"`
	// State is its state at the end of the run.
	State AcceptanceState `json:"state"`
}

// An AcceptanceState is the state of an acceptance at the end of a run.
type AcceptanceState string

// What comes of acceptances: one that counted, one past its last day, which no longer counts, and one
// that met no broken claim of these runs.
const (
	Accepted AcceptanceState = "accepted"
	Expired  AcceptanceState = "expired"
	Stale    AcceptanceState = "stale"
)

// AcceptedBreak says that a broken claim is accepted, why and for how long.
type AcceptedBreak struct {
	Until  string `json:"until"`
	Reason string `json:"reason"`
}

// String returns the state in the words of reports.
func (a *AcceptedBreak) String() string { return "accepted until " + a.Until + ": " + a.Reason }

// Accept has broken claims that are accepted fail nothing, in the runs and in what was found by
// exploration beside them. It comes after [Result.Conclude], if that is called, and before
// [Result.Gate]: thresholds count what is accepted, too. On the day of now, in UTC, the last day of an
// acceptance still counts.
func (r *Result) Accept(asked []Acceptance, now time.Time) {
	today := now.UTC().Format(time.DateOnly)
	for _, a := range asked {
		met := false
		for i := range r.Runs {
			run := &r.Runs[i]
			if ok, err := path.Match(a.Design, run.Design); !ok || err != nil || run.Control != "" {
				continue
			}
			met = run.accept(&a, a.Until >= today) || met
		}
		switch {
		case a.Until < today:
			a.State = Expired
		case met:
			a.State = Accepted
		default:
			a.State = Stale
		}
		r.Acceptances = append(r.Acceptances, a)
	}
	r.Exit = r.total()
}

// accept marks what a run broke of a cell, if the acceptance counts, and reports whether it broke any.
func (r *Run) accept(a *Acceptance, counts bool) (met bool) {
	all := []*Cells{&r.Cells}
	if r.Search != nil {
		for i := range r.Search.Parts {
			all = append(all, &r.Search.Parts[i].Cells)
		}
	}
	for _, cells := range all {
		for _, cell := range cells.Names(func(cell lockbench.Cell, f checker.Finding) bool { return f.Against > 0 && a.covers(cell) }) {
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

// covers reports whether a cell is what is accepted: as an exception of claims, a cell under conditions is
// accepted where more touched it, too. One under no conditions is that cell alone.
func (a *Acceptance) covers(cell lockbench.Cell) bool {
	more := a.Cell.Under != 0 && cell.Guarantee == a.Cell.Guarantee && cell.Under.Has(a.Cell.Under)
	return cell == a.Cell || more
}

// excused is the exit code of a run of which a broken claim is accepted: what that hid counts.
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

// doubtedClaims are the claims that were held in a run of which a self-check, or a probe, was not caught.
func (c Cells) doubtedClaims() []lockbench.Cell {
	return c.Names(func(_ lockbench.Cell, f checker.Finding) bool {
		return f.Claimed && f.Verdict == checker.Untested && f.Exposure > 0
	})
}
