package results

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/conclusion"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// A Search is the exploration of the design of a run, beside the run itself.
type Search struct {
	// NotDone says why nothing was explored, empty where something was.
	NotDone string `json:"not_done,omitempty"`
	// Command does it again.
	Command   string `json:"command,omitempty"`
	Schedules int64  `json:"schedules"`
	ElapsedNS int64  `json:"elapsed_ns"`
	// Cells are the findings, Guarded those with Guard in the store.
	Cells   Cells           `json:"cells,omitzero"`
	Guard   lockbench.Guard `json:"guard,omitempty"`
	Guarded Cells           `json:"guarded,omitzero"`
	// Errors are the errors of the search; its other findings count.
	Errors []string `json:"errors,omitempty"`
}

// A KnownRow has the findings of the released matrix on the design of a run.
type KnownRow struct {
	// Missing says why nothing is known, empty where something is.
	Missing string `json:"missing,omitempty"`
	// Version is that of the design.
	Version string      `json:"version,omitempty"`
	Parts   []KnownPart `json:"parts,omitempty"`
	// Cells are the findings, Guarded those with a guard in the store.
	Cells   map[lockbench.Cell]KnownCell `json:"cells,omitempty"`
	Guarded map[lockbench.Cell]KnownCell `json:"guarded,omitempty"`
}

// A KnownPart is a part of the released matrix.
type KnownPart struct {
	Name    string         `json:"name"`
	Command string         `json:"command"`
	Server  runinfo.Server `json:"server"`
}

// A KnownCell is the finding of all parts together on a cell: its verdict, exposure and
// violations. Nothing of it is claimed.
type KnownCell struct {
	checker.Finding
	// After are conditions that had happened before, see [Finding.After].
	After lockbench.Conditions `json:"after,omitzero"`
	// Part is the number of the part that decided.
	Part int `json:"part"`
}

// MarshalJSON implements json.Marshaler. It leaves out claims.
func (k KnownCell) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Verdict    string               `json:"verdict"`
		Exposure   int64                `json:"exposure"`
		Violations int64                `json:"violations"`
		After      lockbench.Conditions `json:"after,omitzero"`
		Part       int                  `json:"part"`
	}{k.Verdict.String(), k.Exposure, k.Violations, k.After, k.Part})
}

// evidence returns the findings that the run has of its design, by source.
func (r *Run) evidence() []conclusion.Evidence {
	own := conclusion.Evidence{Source: conclusion.Seen, Cells: r.Cells.Cells, After: after(&r.Claims, r.Cells.Cells)}
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
		shows := func(lockbench.Cell) string { return s.Command }
		all = append(all,
			conclusion.Evidence{Source: conclusion.Explored, Cells: s.Cells.Cells, After: after(&r.Claims, s.Cells.Cells), Shows: shows},
			conclusion.Evidence{Source: conclusion.Explored, Guarded: true, Cells: s.Guarded.Cells, After: after(&r.Claims, s.Guarded.Cells), Shows: shows})
	}
	if k := r.Known; k != nil {
		all = append(all, k.Evidence()...)
	}
	return all
}

// after returns, of each broken cell that a lasting exception excuses, the conditions of that
// exception: they had happened before, and the lock remembers them.
func after(claims *lockbench.Claims, cells checker.Cells) map[lockbench.Cell]lockbench.Conditions {
	all := make(map[lockbench.Cell]lockbench.Conditions)
	for _, cell := range cells.With(checker.Broken) {
		f := Finding{Finding: cells[cell]}
		if under := f.After(claims, cell); under != 0 {
			all[cell] = under
		}
	}
	return all
}

// After returns the conditions of the exception that excuses the violations of a claimed cell: they
// had happened before, and the lock remembers them. It is zero where nothing excuses them, or where
// the conditions that touched them do.
func (f *Finding) After(claims *lockbench.Claims, cell lockbench.Cell) lockbench.Conditions {
	if f.Verdict != checker.Broken || !f.Claimed || f.Against > 0 {
		return 0
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

// Findings returns the known findings without a guard.
func (k *KnownRow) Findings() checker.Cells {
	cells, _ := known(k.Cells)
	return cells
}

func known(all map[lockbench.Cell]KnownCell) (checker.Cells, map[lockbench.Cell]lockbench.Conditions) {
	cells, after := make(checker.Cells), make(map[lockbench.Cell]lockbench.Conditions)
	for cell, f := range all {
		cells[cell], after[cell] = f.Finding, f.After
	}
	return cells, after
}

// Evidence returns the known findings, as conclusions are drawn from them: those without a guard,
// then those with one.
func (k *KnownRow) Evidence() []conclusion.Evidence {
	own := conclusion.Evidence{Source: conclusion.Known, Shows: k.Shows}
	guarded := conclusion.Evidence{Source: conclusion.Known, Guarded: true, Shows: k.Shows}
	own.Cells, own.After = known(k.Cells)
	guarded.Cells, guarded.After = known(k.Guarded)
	return []conclusion.Evidence{own, guarded}
}

// Shows returns the command that shows a cell, empty for none.
func (k *KnownRow) Shows(cell lockbench.Cell) string {
	if f, known := k.Cells[cell]; known && f.Part < len(k.Parts) {
		return k.Parts[f.Part].Command
	}
	return ""
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
		if s := first.Search; s != nil && s.Cells.Exit() == BrokenClaim {
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
