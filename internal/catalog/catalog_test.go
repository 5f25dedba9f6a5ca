package catalog

import "testing"

// TestEveryConditionIsBrought: a condition that nothing brings cannot be put to the test, so
// who adds one is told here what is still missing.
func TestEveryConditionIsBrought(t *testing.T) {
	for _, c := range Conditions() {
		if len(c.Faults)+len(c.Explored) == 0 {
			t.Errorf("no fault of internal/fault/table.go brings %s", c.Name)
		}
	}
}
