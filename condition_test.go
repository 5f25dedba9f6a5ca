package lockbench_test

import (
	"math/bits"
	"testing"

	"github.com/lockbench/lockbench"
)

// TestConditionsAreInOrder holds the table of conditions to its constants: names are read off
// by their place.
func TestConditionsAreInOrder(t *testing.T) {
	all := lockbench.AllConditions()
	for i, c := range all {
		if at := bits.TrailingZeros16(uint16(c.Condition)); at != i || c.Condition.Count() != 1 {
			t.Errorf("%s is the condition %b at place %d, want one bit, the %d-th", c.Name, c.Condition, i, i)
		}
		var parsed lockbench.Conditions
		err := parsed.UnmarshalText([]byte(c.Name))
		if err != nil || parsed != c.Condition || c.Condition.String() != c.Name {
			t.Errorf("%s: parsed as %v, written as %q, error %v", c.Name, parsed, c.Condition, err)
		}
		if c.Title == "" || c.Summary == "" {
			t.Errorf("%s has no title or no summary", c.Name)
		}
	}
	if both := lockbench.Crash | lockbench.Skew; both.String() != "crash+skew" || both.Title() != "process dies, clocks are off" {
		t.Errorf("got %q, %q", both, both.Title())
	}
}
