package reports

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/results"
)

// gated returns a result judged by thresholds.
func gated(runs []results.Judged, check *results.SelfCheck, conditions ...string) results.Result {
	r := results.New(runs, nil)
	r.Prove(check)
	var all []thresholds.Threshold
	for _, text := range conditions {
		t, err := thresholds.ParseThreshold(text)
		if err != nil {
			panic(err) // a mistake in the test itself
		}
		all = append(all, t)
	}
	r.Gate(all)
	return r
}

func TestGate(t *testing.T) {
	ok := judged(header("lua-token/token", "private"), 50, held(exclusive, 5))
	other := judged(header("watch-multi/poll", "private"), 50, held(exclusive, 5))
	broken, failed := stealer("private"), failedRun("private")
	missed, caught := &results.SelfCheck{MustBreak: exclusive}, &results.SelfCheck{MustBreak: exclusive, Caught: true}
	cases := []struct {
		name       string
		runs       []results.Judged
		check      *results.SelfCheck
		conditions []string
		outcomes   []thresholds.Outcome
		exit       int
		exits      []int
	}{
		{"all passed", []results.Judged{ok, other}, caught, []string{"acquire.p99>1h", "exclusion.violations>0"},
			[]thresholds.Outcome{thresholds.Passed, thresholds.Passed}, results.Passed, []int{results.Passed, results.Passed}},
		{"failed in all", []results.Judged{ok, other}, nil, []string{"acquire.p99>1ns"},
			[]thresholds.Outcome{thresholds.Failed}, results.FailedThreshold, []int{results.FailedThreshold, results.FailedThreshold}},
		{"failed in the one in scope", []results.Judged{ok, other}, nil, []string{"watch-multi/*: acquire.p99>1ns"},
			[]thresholds.Outcome{thresholds.Failed}, results.FailedThreshold, []int{results.Passed, results.FailedThreshold}},
		{"nothing in scope", []results.Judged{ok}, nil, []string{"redsync/*: acquire.p99>1ns"},
			[]thresholds.Outcome{thresholds.Inconclusive}, results.Inconclusive, []int{results.Passed}},
		{"no value", []results.Judged{ok}, nil, []string{"extend.p99>1ns"},
			[]thresholds.Outcome{thresholds.Inconclusive}, results.Inconclusive, []int{results.Inconclusive}},
		{"an open one outweighs a failed one", []results.Judged{ok}, nil, []string{"extend.p99>1ns", "acquire.p99>1ns"},
			[]thresholds.Outcome{thresholds.Inconclusive, thresholds.Failed}, results.Inconclusive, []int{results.Inconclusive}},
		{"a broken claim outweighs all", []results.Judged{ok, broken}, nil, []string{"extend.p99>1ns", "acquire.p99>1ns"},
			[]thresholds.Outcome{thresholds.Inconclusive, thresholds.Failed}, results.BrokenClaim, []int{results.Inconclusive, results.BrokenClaim}},
		{"a run that failed", []results.Judged{failed}, nil, []string{"acquire.p99>1h"},
			[]thresholds.Outcome{thresholds.Inconclusive}, results.Inconclusive, []int{results.Inconclusive}},
		{"nothing found where nothing would be", []results.Judged{ok}, missed, []string{"violations>0", "acquire.p99>1h"},
			[]thresholds.Outcome{thresholds.Inconclusive, thresholds.Passed}, results.Inconclusive, []int{results.Inconclusive}},
		{"found all the same", []results.Judged{broken}, missed, []string{"violations>0"},
			[]thresholds.Outcome{thresholds.Failed}, results.BrokenClaim, []int{results.BrokenClaim}},
	}
	schema := compile(t, true)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := gated(c.runs, c.check, c.conditions...)
			var outcomes []thresholds.Outcome
			for _, th := range r.Thresholds {
				outcomes = append(outcomes, th.Outcome)
			}
			var exits []int
			for _, run := range r.Runs {
				exits = append(exits, run.Exit)
			}
			if diff := cmp.Diff(outcomes, c.outcomes); diff != "" {
				t.Errorf("outcomes (-got +want):\n%s", diff)
			}
			if r.Exit != c.exit {
				t.Errorf("exit: got %d, want %d", r.Exit, c.exit)
			}
			if diff := cmp.Diff(exits, c.exits); diff != "" {
				t.Errorf("exits of runs (-got +want):\n%s", diff)
			}
			if err := schema.Validate(encodedResult(t, r)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	v := func(x float64) results.Reading { return results.Reading{Value: &x} }
	readings := []results.Reading{v(5), v(9), v(2)}
	for relation, want := range map[thresholds.Relation]int{thresholds.Above: 1, thresholds.AtLeast: 1, thresholds.Below: 2, thresholds.AtMost: 2} {
		if got := nearest(readings, relation); got != want {
			t.Errorf("%s: got %d, want %d", relation, got, want)
		}
	}
}

// TestGateOfAnUncaughtProbe checks that a threshold on a cell is undecided if the probe of its
// condition was not caught, and passes if it was. Cells under other conditions are not affected.
func TestGateOfAnUncaughtProbe(t *testing.T) {
	died := lockbench.Recovery.At(lockbench.Crash)
	for _, c := range []struct {
		caught bool
		want   []thresholds.Outcome
	}{
		{true, []thresholds.Outcome{thresholds.Passed, thresholds.Passed}},
		{false, []thresholds.Outcome{thresholds.Inconclusive, thresholds.Passed}},
	} {
		run := judged(header("lua-token/token", "private"), 50, held(died, 400), held(exclusive, 400))
		check := &results.SelfCheck{MustBreak: stale, Caught: true, Probes: []results.Probe{{Design: "self-check/bare", MustBreak: died, Caught: c.caught}}}
		r := gated([]results.Judged{run}, check, "recovery@crash.violations>0", "exclusion.violations>0")
		var got []thresholds.Outcome
		for _, th := range r.Thresholds {
			got = append(got, th.Outcome)
		}
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("caught %v (-got +want):\n%s", c.caught, diff)
		}
	}
}
