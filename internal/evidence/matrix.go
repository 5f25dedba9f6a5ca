package evidence

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/results"
)

// ConcludeMatrix draws the conclusions for the rows of designs over the usual conditions, from the
// parts of the matrix. In a matrix no two clients share a process, so no thread can die alone.
func ConcludeMatrix(m *results.Matrix, designs []design.Design) {
	locks := make(map[string]design.Design)
	for _, d := range designs {
		locks[d.Name] = d
	}
	m.Conclude(conclusion.Usual(), func(r *results.MatrixRow) (conclusion.Lock, bool) {
		d, known := locks[r.Design]
		lock := Lock(d)
		lock.Foreign |= lockbench.ThreadDeath
		return lock, known
	})
}
