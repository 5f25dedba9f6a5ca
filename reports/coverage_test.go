package reports

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/results"
)

// TestCoverageSaysWhatWasDropped checks that diverged schedules, and commands that the server
// does not know, are in the line of their scope, each once.
func TestCoverageSaysWhatWasDropped(t *testing.T) {
	run := func(diverged int64, missing ...string) results.Run {
		x := &results.Exploration{}
		x.Strategy, x.Clients, x.Rounds, x.Schedules, x.Diverged, x.Missing = "random", 2, 2, 10, diverged, missing
		r := results.Run{Exploration: x}
		r.Design, r.Workload = "mine/lock", "contend"
		return r
	}
	lines := coverage([]results.Run{run(1, "DIGEST"), run(2, "DIGEST", "DELEX")}, "mine/lock", true)
	if want := "; 3 schedules went another way when run again, and were dropped; the server has no DIGEST, DELEX"; len(lines) != 1 || !strings.HasSuffix(lines[0], want) {
		t.Errorf("got %q, want one line that ends in %q", lines, want)
	}
	if lines := coverage([]results.Run{run(0)}, "mine/lock", true); strings.Contains(lines[0], "dropped") || strings.Contains(lines[0], "no ") && strings.Contains(lines[0], "the server") {
		t.Errorf("got %q, want nothing dropped", lines)
	}
}
