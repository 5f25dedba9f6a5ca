package explore

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
)

func TestExercises(t *testing.T) {
	renewing := design.Design{Renews: true}
	for _, c := range []struct {
		name, scenario string
		cfg            Config
		skews          bool
		want           []lockbench.Guarantee // beside those of every scenario
	}{
		{"nothing goes wrong", "contend", Config{Faults: -1, Moves: -1}, true,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.NoEarlyExpiry}},
		{"alone", "overrun", Config{Clients: 1, Kinds: []FaultKind{DieAfter, Restart, Skew}}, true,
			[]lockbench.Guarantee{lockbench.Recovery}},
		{"all faults, no clock", "contend", Config{Moves: -1, Kinds: []FaultKind{DieBefore, Cut, Cancel, Skew, ScriptFlush, Restart}}, false,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.NoEarlyExpiry, lockbench.Recovery, lockbench.Cancel, lockbench.LostReply, lockbench.ScriptFlush, lockbench.Restart}},
		{"clocks off", "contend", Config{Moves: -1, Kinds: []FaultKind{Skew}}, true,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.NoEarlyExpiry, lockbench.Skew}},
		{"one clock for all", "contend", Config{Threads: 2, Moves: -1, Kinds: []FaultKind{Skew}}, true,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.NoEarlyExpiry}},
		{"a pause", "contend", Config{Moves: -1, Kinds: []FaultKind{Pause}}, true,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.Overrun, lockbench.OwnerRelease, lockbench.NoEarlyExpiry, lockbench.LossReported}},
		{"time passes while others wait", "wait", Config{Faults: -1}, true,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.NoEarlyExpiry}},
		{"late by themselves", "overrun", Config{Faults: -1, Moves: -1}, true,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.Overrun, lockbench.OwnerRelease, lockbench.NoEarlyExpiry, lockbench.LossReported}},
		{"late and renewed", "overrun", Config{Design: renewing, Faults: -1}, true,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.Overrun, lockbench.NoEarlyExpiry, lockbench.Extend}},
		{"nested", "nested", Config{Design: renewing, Faults: -1}, true,
			[]lockbench.Guarantee{lockbench.Exclusion, lockbench.NoEarlyExpiry, lockbench.Reentrancy}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Scenario = c.scenario
			cfg, s, _ := c.cfg.resolve() // a design that cannot be opened exercises nothing less
			got := cfg.exercises(s, c.skews)
			want := append(c.want, lockbench.Fencing, lockbench.NoSpuriousRefusal)
			if diff := cmp.Diff(inOrder(got), inOrder(want)); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// inOrder sorts guarantees and leaves out what is there twice.
func inOrder(all []lockbench.Guarantee) []lockbench.Guarantee {
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// TestScenariosExercise tells of every scenario explored by default that it
// exercises something, and of what is on request only nothing that it cannot.
func TestScenariosExercise(t *testing.T) {
	for _, s := range Scenarios() {
		if has := len(s.Exercises) > 0; !has && !s.OnRequest {
			t.Errorf("%s exercises nothing", s.Name)
		}
	}
}

// TestUntestedClaimsShow keeps a claim that was not put to the test, and could have
// been, apart from one that could not.
func TestUntestedClaimsShow(t *testing.T) {
	var m merged
	m.add(checker.Result{Findings: findings(checker.Untested)}, func(lockbench.Guarantee, checker.Verdict) {})
	m.findings[1].Verdict = checker.NotApplicable
	exercised := map[lockbench.Guarantee]bool{}
	all := lockbench.Guarantees()
	for _, f := range m.result([]lockbench.Guarantee{all[0].Name, all[1].Name}) {
		exercised[f.Guarantee] = f.Exercised
	}
	if !exercised[all[0].Name] || exercised[all[1].Name] || exercised[all[2].Name] {
		t.Errorf("got %v, want %s alone: %s is n/a, %s cannot be", exercised, all[0].Name, all[1].Name, all[2].Name)
	}
}

func findings(v checker.Verdict) (all []checker.Finding) {
	for _, g := range lockbench.Guarantees() {
		all = append(all, checker.Finding{Guarantee: g.Name, Verdict: v})
	}
	return all
}
