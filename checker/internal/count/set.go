package count

import (
	"slices"

	"github.com/lockbench/lockbench"
)

// A Set is the sets of conditions of the occasions that one call was, each once, and four at
// most. The zero Set is empty.
type Set struct {
	few [4]lockbench.Conditions
	n   int
}

// Add notes an occasion under these conditions.
func (s *Set) Add(under lockbench.Conditions) {
	if s.n < len(s.few) && !slices.Contains(s.few[:s.n], under) {
		s.few[s.n] = under
		s.n++
	}
}

// All are those noted. It is valid until the next Add or Clear.
func (s *Set) All() []lockbench.Conditions { return s.few[:s.n] }

// Clear empties it.
func (s *Set) Clear() { s.n = 0 }
