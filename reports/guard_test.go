package reports

import (
	"bytes"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
)

// guarded returns three runs of a design: without a guard, with fences, and
// with a compare-and-set store in which the guard made no difference.
func guarded() []results.Judged {
	late := broken(lockbench.Effects.At(lockbench.Outlived), false, 12, 60)
	late.Counterexample = plainDelete("private").Verdicts.Find(stale).Counterexample
	on := func(guard string, servers int, stale int64, effects checker.CellFinding) results.Judged {
		h := header("lua-token/fenced", "private")
		h.Server.Count = servers
		if guard != "" {
			h.Params["guard"] = guard
		}
		j := judged(h, 100, held(exclusive, 99), effects)
		j.Measures.Stale, j.Measures.LostUpdates = stale, effects.Violations
		return j
	}
	return []results.Judged{on("", 0, 0, late), on("fence", 0, 18, held(lockbench.Effects.At(0), 80)), on("cas", 5, 0, late), on("none", 0, 0, late)}
}

func TestTerminalTellsWhatGuardsRefused(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, Text, pointer(results.New(guarded(), nil)), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "guarded.txt", buf.Bytes())
}
