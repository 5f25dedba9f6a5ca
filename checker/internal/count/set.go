package count

import (
	"slices"

	"github.com/lockbench/lockbench"
)

// A Set has the different sets of conditions under which one call made occasions; up to four, more
// are ignored. The zero Set is empty.
type Set struct {
	conditions [4]lockbench.Conditions
	n          int
}

// Add adds a set of conditions.
func (s *Set) Add(under lockbench.Conditions) {
	if s.n < len(s.conditions) && !slices.Contains(s.conditions[:s.n], under) {
		s.conditions[s.n] = under
		s.n++
	}
}

// All returns the sets of conditions. The slice is valid until the next Add or Clear.
func (s *Set) All() []lockbench.Conditions { return s.conditions[:s.n] }

func (s *Set) Clear() { s.n = 0 }
