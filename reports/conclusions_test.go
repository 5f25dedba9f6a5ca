package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/results"
)

// TestBestFirst checks that a safer lock comes first, then the recommended one of equally safe locks,
// then one that breaks under fewer conditions.
func TestBestFirst(t *testing.T) {
	r := &results.Result{Recommendation: &results.Recommendation{Design: "d", Word: conclusion.NeedsGuard}}
	for _, of := range []struct {
		design string
		word   conclusion.Word
		breaks []lockbench.Conditions
	}{
		{"a", conclusion.DoNotUse, nil},
		{"b", conclusion.NeedsGuard, []lockbench.Conditions{lockbench.Outlived, lockbench.Pause}},
		{"c", conclusion.NeedsGuard, []lockbench.Conditions{lockbench.Outlived}},
		{"d", conclusion.NeedsGuard, []lockbench.Conditions{lockbench.Outlived, lockbench.Pause}},
		{"e", conclusion.Safe, nil},
	} {
		run := results.Run{Conclusion: &conclusion.Conclusion{Word: of.word, BrokenUnder: of.breaks}}
		run.Design = of.design
		r.Runs = append(r.Runs, run)
	}
	s := resultSummary(r)
	var got []string
	for _, i := range s.bestFirst() {
		got = append(got, r.Runs[i].Design)
	}
	if diff := cmp.Diff(got, []string{"e", "d", "c", "b", "a"}); diff != "" {
		t.Errorf("order (-got +want):\n%s", diff)
	}
}
