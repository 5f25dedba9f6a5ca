package count

import (
	"slices"

	"github.com/lockbench/lockbench"
)

// A Set is the sets of conditions of the occasions that one call was, each once, and four at
// most. The zero Set is empty.
type Set struct {
	conditions [4]lockbench.Conditions
	n          int
}

// Add notes an occasion under these conditions.
func (s *Set) Add(under lockbench.Conditions) {
	if s.n < len(s.conditions) && !slices.Contains(s.conditions[:s.n], under) {
		s.conditions[s.n] = under
		s.n++
	}
}

// All are those noted. It is valid until the next Add or Clear.
func (s *Set) All() []lockbench.Conditions { return s.conditions[:s.n] }

// Clear empties it.
func (s *Set) Clear() { s.n = 0 }
