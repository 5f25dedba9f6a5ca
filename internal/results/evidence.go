package results

import (
	"maps"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/conclusion"
)

// A Search has the explorations of the design of a run, beside the run itself.
type Search struct {
	// NotDone says why nothing was explored, empty where something was.
	NotDone string `json:"not_done,omitempty"`
	Parts   Parts  `json:"parts,omitempty"`
}

// Known is the row of the released matrix on the design of a run. Nothing of it is claimed.
type Known struct {
	// Missing says why nothing is known, empty where something is.
	Missing string `json:"missing,omitempty"`
	// Version is the version of the design.
	Version string `json:"version,omitempty"`
	Parts   Parts  `json:"parts,omitempty"`
}

// Fails reports whether an exploration broke a claim, and nobody accepts it.
func (s *Search) Fails() bool {
	return s != nil && s.Parts.Together(false).Exit() == BrokenClaim
}

// evidence returns the findings that the run has of its design, by source.
func (r *Run) evidence() []conclusion.Evidence {
	own := conclusion.Evidence{Source: conclusion.Seen, Cells: r.Cells.Cells, After: r.Cells.after(&r.Claims)}
	if r.Exploration != nil {
		own.Source = conclusion.Explored
	}
	all := []conclusion.Evidence{own}
	if r.Guard() != "" {
		all[0].Cells = unguarded(own.Cells)
		own.Guarded = true
		all = append(all, own)
	}
	if s := r.Search; s != nil {
		all = append(all, s.Parts.Evidence(conclusion.Explored, &r.Claims)...)
	}
	if k := r.Known; k != nil {
		all = append(all, k.Parts.Evidence(conclusion.Known, &r.Claims)...)
	}
	return all
}

// after returns the conditions of [Finding.Excused] for each broken cell that has some.
func (c Cells) after(claims *lockbench.Claims) map[lockbench.Cell]lockbench.Conditions {
	all := make(map[lockbench.Cell]lockbench.Conditions)
	for _, cell := range c.With(checker.Broken) {
		f := c.At(cell)
		if under := f.Excused(claims, cell); under != 0 {
			all[cell] = under
		}
	}
	return all
}

// Excused returns the conditions of the exception that excuses the violations of a claimed cell
// because they had happened before, and the lock remembers them. It is zero where nothing excuses
// them, or where the conditions that touched them do.
func (f *Finding) Excused(claims *lockbench.Claims, cell lockbench.Cell) lockbench.Conditions {
	if f.After != 0 || f.Verdict != checker.Broken || !f.Claimed || f.Against > 0 {
		return f.After
	}
	for _, e := range claims.Except {
		if e.Lasts && (e.Gives == nil || slices.Contains(e.Gives, cell.Guarantee)) {
			return e.Under
		}
	}
	return 0
}

// Reason says why a cell is not claimed: by the exception that says more, where there is one.
func Reason(c *lockbench.Claims, cell lockbench.Cell) string {
	why := c.Reason(cell)
	if e, given := c.Exception(cell.Guarantee, cell.Under, cell.Under); given && e.Why != "" && slices.Contains(c.Keeps, cell.Guarantee) {
		return e.Why
	}
	return why
}

// unguarded returns the findings in which no guard of the store has a part.
func unguarded(cells checker.Cells) checker.Cells {
	all := maps.Clone(cells)
	maps.DeleteFunc(all, func(cell lockbench.Cell, _ checker.Finding) bool { return cell.Guarantee == lockbench.Effects })
	return all
}

// Conclude draws the conclusions of the runs over these conditions, by what is known of each
// lock, and recommends one. What a search found against the claims fails the run, as what it saw
// itself does. The scenarios of an explored design have one conclusion, at the first of them, and so
// have the points of a lock.
func (r *Result) Conclude(over lockbench.Conditions, lock func(*Run) (conclusion.Lock, bool)) {
	merged := r.Designs()
	for _, points := range merged.Locks() {
		run := &merged.Runs[points[0]]
		l, known := lock(run)
		if !known {
			continue
		}
		var all []conclusion.Evidence
		for _, i := range points {
			all = append(all, merged.Runs[i].evidence()...)
		}
		c := conclusion.Draw(l, over, all...)
		first := r.firstOf(points[0], run)
		first.Conclusion = &c
		if first.Search.Fails() {
			first.Exit = BrokenClaim
			r.Exit = worst(r.Exit, BrokenClaim)
		}
	}
	if !r.Explored() {
		r.Recommendation = r.recommend()
	}
}

// firstOf is the run that has what is known of the i-th of all designs.
func (r *Result) firstOf(i int, merged *Run) *Run {
	if !r.Explored() {
		return &r.Runs[i]
	}
	return &r.Runs[slices.IndexFunc(r.Runs, func(run Run) bool { return run.Design == merged.Design })]
}
