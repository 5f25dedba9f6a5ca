package strategy

import (
	"testing"

	"github.com/lockbench/lockbench/internal/fault"
)

// TestEveryExploredFaultHasAVerb: each fault that the table gives to explorations is a step of
// schedules, and no other fault is.
func TestEveryExploredFaultHasAVerb(t *testing.T) {
	done := map[fault.Kind]bool{}
	for v := range verbs {
		if kind := Verb(v).Fault(); kind != "" {
			done[kind] = true
		}
	}
	for _, kind := range fault.Explored() {
		if !done[kind] {
			t.Errorf("no step of a schedule is %s; hint: a verb (choice.go), and what it does (internal/explore/faults.go)", kind)
		}
		delete(done, kind)
	}
	for kind := range done {
		t.Errorf("%s is a step of schedules, and no row of the table of faults says so", kind)
	}
}
