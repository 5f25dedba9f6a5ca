package results

import (
	"maps"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/conclusion"
)

// Conclude draws the conclusion of each row over these conditions, by the rule that runs are
// concluded by. It comes after [Matrix.Settle]. A row whose lock is not known has none.
func (m *Matrix) Conclude(over lockbench.Conditions, lock func(*MatrixRow) (conclusion.Lock, bool)) {
	for i := range m.Rows {
		r := &m.Rows[i]
		r.Conclusion = nil
		if l, known := lock(r); known {
			c := conclusion.Draw(l, over, m.evidence(r)...)
			r.Conclusion = &c
		}
	}
}

// evidence returns the findings of the parts of a row, each by itself. It leaves out held cells of a
// part in which the lock that is broken on purpose was not caught.
func (m *Matrix) evidence(r *MatrixRow) (all []conclusion.Evidence) {
	for i := range r.Parts {
		p := &r.Parts[i]
		caught := m.SelfCheck.Caught(p.Name)
		e := conclusion.Evidence{Source: conclusion.Seen, Shows: func(lockbench.Cell) string { return p.Command }}
		if len(p.Covered) > 0 {
			e.Source = conclusion.Explored
		}
		guarded := e
		e.Cells, guarded.Cells, guarded.Guarded = believed(r.found(p.Name), caught), believed(p.Guarded.Cells, caught), true
		e.After, guarded.After = after(&r.Claims, e.Cells), after(&r.Claims, guarded.Cells)
		all = append(all, e, guarded)
	}
	return all
}

// found returns the findings of one part.
func (r *MatrixRow) found(part string) checker.Cells {
	all := make(checker.Cells)
	for cell, c := range r.Cells {
		for _, e := range c.Evidence {
			if e.Part == part {
				all[cell] = e.Finding.Finding
			}
		}
	}
	return all
}

// believed returns the findings to rely on: all where a broken lock was caught, else the broken
// cells.
func believed(c checker.Cells, caught bool) checker.Cells {
	if caught {
		return c
	}
	broken := maps.Clone(c)
	maps.DeleteFunc(broken, func(_ lockbench.Cell, f checker.Finding) bool { return f.Verdict != checker.Broken })
	return broken
}
