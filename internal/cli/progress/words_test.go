package progress

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
)

// TestCellNames lists the first of many, and one more instead of counting one.
func TestCellNames(t *testing.T) {
	var cells []lockbench.Cell
	for _, g := range lockbench.Guarantees()[:8] {
		cells = append(cells, g.Name.At(lockbench.Crash))
	}
	if got, want := CellNames(cells[:1]), "exclusion@crash"; got != want {
		t.Errorf("one: got %q, want %q", got, want)
	}
	if got, want := CellNames(cells[:7]), "release-delay@crash, loss-reported@crash, answers@crash"; !strings.Contains(got, want) {
		t.Errorf("seven: got %q, want all of them", got)
	}
	if got := CellNames(cells); !strings.HasSuffix(got, "loss-reported@crash, 2 more") {
		t.Errorf("eight: got %q, want six and a number", got)
	}
}
