package reports

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"
)

func TestMerge(t *testing.T) {
	private, embedded := results.New(sample("private")[:2], nil), results.New(sample("embedded")[2:3], []string{"lua-token/options"})
	embedded.Thresholds = []results.Threshold{{Threshold: "grants>0", Readings: []results.Reading{{Run: 0, Why: "nothing measured"}}}}
	private.SelfCheck, embedded.SelfCheck = &results.SelfCheck{Caught: true}, &results.SelfCheck{Design: "broken", Caught: false}
	got, err := results.Merge(private, embedded)
	if err != nil {
		t.Fatal(err)
	}
	var designs, kinds []string
	for i := range got.Runs {
		designs = append(designs, got.Runs[i].Design)
		kinds = append(kinds, kindOf(got.ServerOf(&got.Runs[i])))
	}
	if diff := cmp.Diff(designs, []string{"lua-token/expire", "lua-token/token", "watch-multi/poll"}); diff != "" {
		t.Errorf("designs (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(kinds, []string{"private", "private", "embedded"}); diff != "" {
		t.Errorf("servers (-got +want):\n%s", diff)
	}
	if run := got.Thresholds[0].Readings[0].Run; run != 2 || embedded.Thresholds[0].Readings[0].Run != 0 {
		t.Errorf("the reading is of run %d, want 2, and the result it came from as it was", run)
	}
	if got.Exit != results.BrokenClaim || got.SelfCheck.Caught || len(got.NotRun) != 1 {
		t.Errorf("got exit %d, self-check %+v, not run %v, want what is worst of both", got.Exit, got.SelfCheck, got.NotRun)
	}
	if none, err := results.Merge(); err != nil || none.Exit != results.Inconclusive {
		t.Errorf("nothing merged: got exit %d and %v, want inconclusive", none.Exit, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	live := results.New(sample("private")[:1], nil)
	explored := results.New(sample("private")[:1], nil)
	explored.Runs[0].Exploration = &results.Exploration{}
	damaged := results.New(sample("private")[:1], nil)
	damaged.Thresholds = []results.Threshold{{Threshold: "grants>0", Readings: []results.Reading{{Run: 7, Why: "x"}}}}
	mixed := results.New(sample("private")[:2], nil)
	mixed.Runs[1].Exploration = &results.Exploration{}
	for _, c := range []struct {
		name, want string
		results    []results.Result
	}{
		{"runs and explorations", "some are explorations", []results.Result{live, explored}},
		{"a reading of no run", `threshold "grants>0"`, []results.Result{live, damaged}},
		{"both kinds in one", "run 2 of 2 is of another kind", []results.Result{mixed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := results.Merge(c.results...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
