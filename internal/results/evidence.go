package results

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/conclusion"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// A Search is what exploration found of the design of a run, beside the run itself.
type Search struct {
	// NotDone says why nothing was explored, empty where something was.
	NotDone string `json:"not_done,omitempty"`
	// Command does it again.
	Command   string `json:"command,omitempty"`
	Schedules int64  `json:"schedules"`
	ElapsedNS int64  `json:"elapsed_ns"`
	// Cells are what was found, Guarded what was behind the guard of the name.
	Cells   Cells           `json:"cells,omitempty"`
	Guard   lockbench.Guard `json:"guard,omitempty"`
	Guarded Cells           `json:"guarded,omitempty"`
	// Errors are what went wrong in it: what else was found stays.
	Errors []string `json:"errors,omitempty"`
}

// A KnownRow is what the released matrix has of the design of a run.
type KnownRow struct {
	// Missing says why nothing is known, empty where something is.
	Missing string `json:"missing,omitempty"`
	// Version is that of the design.
	Version string      `json:"version,omitempty"`
	Parts   []KnownPart `json:"parts,omitempty"`
	// Cells are what was found, Guarded what was behind a guard in the store.
	Cells   map[lockbench.Cell]KnownCell `json:"cells,omitempty"`
	Guarded map[lockbench.Cell]KnownCell `json:"guarded,omitempty"`
}

// A KnownPart is what was done to find it out.
type KnownPart struct {
	Name    string         `json:"name"`
	Command string         `json:"command"`
	Server  runinfo.Server `json:"server"`
}

// A KnownCell is what all parts together say of a cell.
type KnownCell struct {
	Verdict    checker.Verdict `json:"verdict"`
	Exposure   int64           `json:"exposure"`
	Violations int64           `json:"violations"`
	// After are conditions that had happened before, see [Finding.After].
	After lockbench.Conditions `json:"after,omitzero"`
	// Part is the number of the part that decided.
	Part int `json:"part"`
}

// evidence is what the run knows, by source.
func (r *Run) evidence() []conclusion.Evidence {
	var all []conclusion.Evidence
	own := conclusion.Evidence{Source: conclusion.Seen, Cells: r.Cells.found(&r.Claims)}
	if r.Exploration != nil {
		own.Source = conclusion.Explored
	}
	if r.Guard() != "" {
		own.Cells, own.Guarded = r.Cells.unguarded(&r.Claims), own.Cells
	}
	all = append(all, own)
	if s := r.Search; s != nil {
		all = append(all, conclusion.Evidence{
			Source: conclusion.Explored, Cells: s.Cells.found(&r.Claims), Guarded: s.Guarded.found(&r.Claims),
			Shows: func(lockbench.Cell) string { return s.Command },
		})
	}
	if k := r.Known; k != nil {
		all = append(all, k.Evidence())
	}
	return all
}

// found is what was found, as conclusions are drawn from it.
func (c Cells) found(claims *lockbench.Claims) map[lockbench.Cell]conclusion.Found {
	all := make(map[lockbench.Cell]conclusion.Found)
	for cell, f := range c {
		all[cell] = conclusion.Found{Verdict: f.Verdict, Exposure: f.Exposure, Violations: f.Violations, After: f.After(claims, cell)}
	}
	return all
}

// After are the conditions of the exception that excuses the violations of a claimed cell: they
// had happened before, and the lock remembers them. Zero where nothing excuses them, or what
// touched them does.
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

// unguarded is what was found that no guard of the store has a part in.
func (c Cells) unguarded(claims *lockbench.Claims) map[lockbench.Cell]conclusion.Found {
	all := c.found(claims)
	for cell := range all {
		if cell.Guarantee == lockbench.Effects {
			delete(all, cell)
		}
	}
	return all
}

// Findings are what is known, as verdicts of a run: nothing of it is claimed.
func (k *KnownRow) Findings() Cells {
	all := make(Cells)
	for cell, f := range k.Cells {
		all[cell] = Finding{Verdict: f.Verdict, Exposure: f.Exposure, Violations: f.Violations}
	}
	return all
}

func foundOf(cells map[lockbench.Cell]KnownCell) map[lockbench.Cell]conclusion.Found {
	all := make(map[lockbench.Cell]conclusion.Found)
	for cell, f := range cells {
		all[cell] = conclusion.Found{Verdict: f.Verdict, Exposure: f.Exposure, Violations: f.Violations, After: f.After}
	}
	return all
}

// Evidence is what is known, as conclusions are drawn from it.
func (k *KnownRow) Evidence() conclusion.Evidence {
	return conclusion.Evidence{Source: conclusion.Known, Cells: foundOf(k.Cells), Guarded: foundOf(k.Guarded), Shows: k.shows}
}

// shows is the command that shows a cell.
func (k *KnownRow) shows(cell lockbench.Cell) string {
	if f, known := k.Cells[cell]; known && f.Part < len(k.Parts) {
		return k.Parts[f.Part].Command
	}
	return ""
}

// Conclude draws the conclusions of the runs over these conditions, by what is known of each
// lock, and recommends one. What a search found against the claims fails the run, as what it saw
// itself does. The scenarios of an explored design have one conclusion, at the first of them.
func (r *Result) Conclude(over lockbench.Conditions, lock func(*Run) (conclusion.Lock, bool)) {
	merged := r.Designs()
	for i := range merged.Runs {
		run := &merged.Runs[i]
		l, known := lock(run)
		if !known {
			continue
		}
		c := conclusion.Draw(l, over, run.evidence()...)
		first := r.firstOf(i, run)
		first.Conclusion = &c
		if s := first.Search; s != nil && s.Cells.exit() == BrokenClaim {
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
