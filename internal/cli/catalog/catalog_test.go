package catalog

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockbench/lockbench/internal/lib/wrap"
)

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

// TestListsFit checks that no line of a list is longer than the width of a terminal.
func TestListsFit(t *testing.T) {
	for _, kind := range Kinds() {
		var text strings.Builder
		if err := List(&text, kind, false, true); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > wrap.Width {
				t.Errorf("%s: %d columns, want %d at most: %s", kind, n, wrap.Width, line)
			}
		}
	}
}
