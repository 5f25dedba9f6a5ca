package catalog

import "testing"

// TestEveryConditionIsBrought checks that a fault causes every condition, since a condition
// without one cannot be put to the test. It tells the author of a new condition which entry
// is missing.
func TestEveryConditionIsBrought(t *testing.T) {
	for _, c := range Conditions() {
		if len(c.Faults)+len(c.Explored) == 0 {
			t.Errorf("no fault of internal/fault/table.go brings %s", c.Name)
		}
	}
}
