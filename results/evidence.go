package results

import (
	"maps"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
)

// A Search holds explorations of the design of a run that were made beside the run; each is a part.
type Search struct {
	// NotDone is the reason why nothing was explored, empty if something was.
	NotDone string `json:"not_done,omitempty"`
	Parts   Parts  `json:"parts,omitempty"`
}

// A Known holds the findings on the design of a run in the released matrix, which is part of the
// program. Parts are the parts of its row. Its findings are not marked as claimed.
type Known struct {
	// Missing is the reason why there is no such row, empty if there is one.
	Missing string `json:"missing,omitempty"`
	// Version is the version of the design's code that the row was made with.
	Version string `json:"version,omitempty"`
	Parts   Parts  `json:"parts,omitempty"`
}

// concluded returns the conclusion from the released matrix alone, and the conclusion c if it has
// nothing of the lock.
func (k *Known) concluded(l conclusion.Lock, over lockbench.Conditions, c conclusion.Conclusion) conclusion.Conclusion {
	if k == nil || len(k.Parts) == 0 {
		return c
	}
	return conclusion.Draw(l, over, k.Parts.Evidence(conclusion.Known, &lockbench.Claims{})...)
}

// grantsPerS returns the speed of the lock in the released matrix without faults; zero if k is nil
// or does not have it.
func (k *Known) grantsPerS() float64 {
	if k == nil {
		return 0
	}
	if p := k.Parts.Named("live"); p != nil {
		return p.GrantsPerS
	}
	return 0
}

// Fails reports whether an exploration broke a claim that is not accepted. It returns false for
// nil.
func (s *Search) Fails() bool {
	return s != nil && s.Parts.Together(false).Exit() == BrokenClaim
}

// evidence returns the findings on the design from the run, its search and the released matrix,
// each with its source.
func (r *Run) evidence() []conclusion.Evidence {
	own := r.found(conclusion.Seen, &r.Claims)
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

// found returns the findings of the run alone as evidence of a source. Exceptions in claims may
// excuse broken cells, see [Finding.Excused].
func (r *Run) found(source conclusion.Source, claims *lockbench.Claims) conclusion.Evidence {
	lease, _ := r.Params["ttl_ns"].(float64)
	return conclusion.Evidence{
		Source: source, Cells: r.Cells.Cells, After: r.Cells.after(claims),
		Lease: time.Duration(lease), Programs: r.programs(), Early: r.Cells.early(),
	}
}

// programs returns, for each broken cell, the workload or the scenarios that broke it.
func (r *Run) programs() map[lockbench.Cell][]string {
	all := make(map[lockbench.Cell][]string)
	for _, cell := range r.Cells.With(checker.Broken) {
		if all[cell] = r.Cells.Shown[cell].Scenarios; len(all[cell]) == 0 && r.Workload != "" {
			all[cell] = []string{r.Workload}
		}
	}
	return all
}

// early returns how long before the end of a lease the next owner was granted the key, for each
// broken cell with a counterexample that shows it.
func (c Cells) early() map[lockbench.Cell]time.Duration {
	all := make(map[lockbench.Cell]time.Duration)
	for _, cell := range c.With(checker.Broken) {
		if x := c.Cells[cell].Counterexample; x != nil {
			if d, shown := x.Early(); shown {
				all[cell] = d
			}
		}
	}
	return all
}

// after returns, for each broken cell that an earlier condition excuses, the conditions of
// [Finding.Excused].
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

// Excused returns the conditions that excuse the violations of a claimed cell although they did not
// touch them: the conditions happened earlier, and the lock never recovers from them, see
// [lockbench.Exception]. It is zero if there are none.
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

// Reason returns the reason why a cell is not claimed: the reason of the exception for its
// conditions, if there is one, or else the reason of the claims.
func Reason(c *lockbench.Claims, cell lockbench.Cell) string {
	why := c.Reason(cell)
	if e, given := c.Exception(cell.Guarantee, cell.Under, cell.Under); given && e.Why != "" && slices.Contains(c.Keeps, cell.Guarantee) {
		return e.Why
	}
	return why
}

// unguarded returns the findings that a guard of the store cannot influence.
func unguarded(cells checker.Cells) checker.Cells {
	all := maps.Clone(cells)
	maps.DeleteFunc(all, func(cell lockbench.Cell, _ checker.Finding) bool { return cell.Guarantee == lockbench.Effects })
	return all
}

// Conclude draws a conclusion on each lock over these conditions, from all its findings, and
// recommends one of the locks. A run fails if its [Search] broke a claim, as if the run itself had.
// lock returns the lock of a run, and false if it is not known; such a run has no conclusion. A
// lock with several runs, its points or the explored scenarios of its design, has one conclusion,
// stored in the first of them.
func (r *Result) Conclude(over lockbench.Conditions, lock func(*Run) (conclusion.Lock, bool)) {
	merged := r.Designs()
	tried := make(map[*Run]bool)
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
		tried[first] = len(run.Known.concluded(l, over, c).Open) == 0
		if first.Search.Fails() {
			first.Exit = BrokenClaim
			r.Exit = worst(r.Exit, BrokenClaim)
		}
	}
	if !r.Explored() {
		r.Recommendation = r.recommend(func(first *Run) bool { return tried[first] })
	}
}

// firstOf returns the run of r that stores the conclusion for the i-th run of r.Designs(), merged.
func (r *Result) firstOf(i int, merged *Run) *Run {
	if !r.Explored() {
		return &r.Runs[i]
	}
	return &r.Runs[slices.IndexFunc(r.Runs, func(run Run) bool { return run.Design == merged.Design })]
}
