package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/evidence/conclusion"
)

// pointRun returns a run of a design with these numbers of clients and keys.
func pointRun(design string, seed uint64, clients, keys float64) Run {
	return Run{RunSettings: RunSettings{Design: design, Workload: "mutex", Seed: seed, Params: map[string]any{"clients": clients, "keys": keys}}}
}

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		name  string
		runs  []Run
		want  []string
		locks [][]int
	}{
		{"designs", []Run{pointRun("a", 1, 8, 4), pointRun("b", 1, 8, 4)}, []string{"a", "b"}, [][]int{{0}, {1}}},
		{"clients", []Run{pointRun("a", 1, 1, 4), pointRun("a", 1, 64, 4), pointRun("b", 1, 1, 4), pointRun("b", 1, 64, 4)}, []string{"a (clients 1)", "a (clients 64)", "b (clients 1)", "b (clients 64)"}, [][]int{{0, 1}, {2, 3}}},
		{"keys", []Run{pointRun("a", 1, 8, 1), pointRun("a", 1, 8, 4)}, []string{"a (keys 1)", "a (keys 4)"}, [][]int{{0, 1}}},
		{"both", []Run{pointRun("a", 1, 8, 4), pointRun("a", 1, 1_000_000, 1)}, []string{"a (clients 8, keys 4)", "a (clients 1000000, keys 1)"}, [][]int{{0, 1}}},
		{"repetitions", []Run{pointRun("a", 1, 8, 4), pointRun("a", 1, 8, 4)}, []string{"a", "a"}, [][]int{{0}, {1}}},
		{"two sessions with other settings", []Run{pointRun("a", 1, 8, 4), pointRun("a", 2, 64, 4)}, []string{"a", "a"}, [][]int{{0}, {1}}},
		{"two sessions with the same points", []Run{pointRun("a", 1, 8, 4), pointRun("a", 1, 64, 4), pointRun("a", 2, 8, 4), pointRun("a", 2, 64, 4)}, []string{"a (clients 8)", "a (clients 64)", "a (clients 8)", "a (clients 64)"}, [][]int{{0, 1, 2, 3}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Label
			l.TellPoints(c.runs)
			var got []string
			for i := range c.runs {
				got = append(got, l.Of(&c.runs[i]))
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("labels (-got +want):\n%s", diff)
			}
			r := Result{Runs: c.runs}
			if diff := cmp.Diff(r.Locks(), c.locks); diff != "" {
				t.Errorf("locks (-got +want):\n%s", diff)
			}
		})
	}
}

// TestRecommendByPoints checks that the speed of a lock is the geometric mean over its points, and
// that a lock that lacks a point is not compared.
func TestRecommendByPoints(t *testing.T) {
	r := Result{}
	for design, rates := range map[string][]float64{"a": {100, 400}, "b": {2500, 400}, "c": {5000}} {
		for i, rate := range rates {
			run := pointRun(design, 1, float64(1+i), 4)
			run.GrantsPerS = rate
			if i == 0 {
				run.Conclusion = &conclusion.Conclusion{Word: conclusion.Safe, Why: "it holds"}
				if design == "b" {
					run.Conclusion = &conclusion.Conclusion{Word: conclusion.NeedsGuard, Why: "it breaks"}
				}
			}
			r.Runs = append(r.Runs, run)
		}
	}
	want := &Recommendation{Design: "a", Word: conclusion.Safe, Price: "80 % slower than b, where it breaks"}
	if diff := cmp.Diff(r.recommend(func(*Run) bool { return true }), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
