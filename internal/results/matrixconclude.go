package results

import (
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

// evidence is what the parts of a row found, each by itself. What held in a part in which the
// lock that is broken on purpose was not caught is left out.
func (m *Matrix) evidence(r *MatrixRow) (all []conclusion.Evidence) {
	for i := range r.Parts {
		p := &r.Parts[i]
		caught := m.SelfCheck.Caught(p.Name)
		e := conclusion.Evidence{
			Source:  conclusion.Seen,
			Cells:   r.found(p.Name).believed(caught).found(&r.Claims),
			Guarded: p.Guarded.believed(caught).found(&r.Claims),
			Shows:   func(lockbench.Cell) string { return p.Command },
		}
		if len(p.Covered) > 0 {
			e.Source = conclusion.Explored
		}
		all = append(all, e)
	}
	return all
}

// found is what one part found of each cell.
func (r *MatrixRow) found(part string) Cells {
	all := make(Cells)
	for cell, c := range r.Cells {
		for _, e := range c.Evidence {
			if e.Part == part {
				all[cell] = e.Finding
			}
		}
	}
	return all
}

// believed is what can be relied on: all where a broken lock was caught, else what was broken.
func (c Cells) believed(caught bool) Cells {
	if caught {
		return c
	}
	broken := make(Cells)
	for cell, f := range c {
		if f.Verdict == checker.Broken {
			broken[cell] = f
		}
	}
	return broken
}
