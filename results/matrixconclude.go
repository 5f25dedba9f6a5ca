package results

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
)

// Conclude draws the conclusion of each row over these conditions, by the rule of
// [Result.Conclude]. lock returns the lock of a row, and false if it is not known; such a row has
// no conclusion. Call Conclude after [Matrix.Settle].
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

// evidence returns the findings of each part of a row. It leaves out cells held in a part without a
// caught self-check.
func (m *Matrix) evidence(r *MatrixRow) (all []conclusion.Evidence) {
	for _, p := range r.Parts {
		source := conclusion.Seen
		if p.Explored() {
			source = conclusion.Explored
		}
		all = append(all, Parts{p.proven(m.SelfCheck.Caught(p.Name))}.Evidence(source, &r.Claims)...)
	}
	return all
}
