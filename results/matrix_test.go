package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// TestSettle checks the combined findings of several parts.
func TestSettle(t *testing.T) {
	found := func(part string, v checker.Verdict, against int64) Part {
		f := Finding{Finding: checker.Finding{Verdict: v, Claimed: true, Exercised: true, Exposure: 10, Against: against}}
		if v == checker.Broken {
			f.Violations = 3
		}
		return Part{Name: part, Run: Run{Cells: NewCells(map[lockbench.Cell]Finding{lockbench.Exclusion.At(0): f})}}
	}
	want := func(v checker.Verdict, exposure, violations, against int64, by string) Finding {
		return Finding{
			checker.Finding{Verdict: v, Claimed: true, Exercised: true, Exposure: exposure, Violations: violations, Against: against},
			Shown{Part: by},
		}
	}
	for _, c := range []struct {
		name     string
		parts    Parts
		unproven map[string]bool
		want     Finding
	}{
		{"nothing", nil, nil, Finding{}},
		{"held by both", Parts{found("live", checker.Held, 0), found("explore", checker.Held, 0)}, nil, want(checker.Held, 20, 0, 0, "live")},
		{"broken by one", Parts{found("live", checker.Held, 0), found("explore", checker.Broken, 3)}, nil, want(checker.Broken, 20, 3, 3, "explore")},
		{"broken by the other", Parts{found("live", checker.Broken, 3), found("explore", checker.Held, 0)}, nil, want(checker.Broken, 20, 3, 3, "live")},
		{"broken by both", Parts{found("live", checker.Broken, 0), found("explore", checker.Broken, 1)}, nil, want(checker.Broken, 20, 6, 1, "explore")},
		{"held outweighs untested and n/a", Parts{found("a", checker.Untested, 0), found("b", checker.NotApplicable, 0), found("c", checker.Held, 0)}, nil, want(checker.Held, 30, 0, 0, "c")},
		{"broken, and it does not count", Parts{found("explore", checker.Broken, 0)}, nil, want(checker.Broken, 10, 3, 0, "explore")},
		{"held where nothing could be caught", Parts{found("live", checker.Held, 0)}, map[string]bool{"live": true}, want(checker.Untested, 10, 0, 0, "live")},
		{"held elsewhere too", Parts{found("live", checker.Held, 0), found("explore", checker.Held, 0)}, map[string]bool{"live": true}, want(checker.Held, 10, 0, 0, "explore")},
		{"broken where nothing could be caught", Parts{found("live", checker.Broken, 3)}, map[string]bool{"live": true}, want(checker.Broken, 10, 3, 3, "live")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := MatrixRow{Parts: c.parts}
			r.settle(c.unproven)
			if diff := cmp.Diff(r.Cells.At(lockbench.Exclusion.At(0)), c.want); diff != "" {
				t.Errorf("cell (-got +want):\n%s", diff)
			}
		})
	}
}

// TestGuardedPartsStandApart checks that findings on a lock with a guarded store do not count for
// the lock alone, and the reverse, and that a run with a guard keeps only findings on the guarded
// store.
func TestGuardedPartsStandApart(t *testing.T) {
	run := Run{RunSettings: RunSettings{Params: map[string]any{"guard": "cas"}}, Cells: NewCells(map[lockbench.Cell]Finding{
		lockbench.Effects.At(0):   {Finding: checker.Finding{Verdict: checker.Held, Exercised: true, Exposure: 7}},
		lockbench.Exclusion.At(0): {Finding: checker.Finding{Verdict: checker.Held, Exercised: true, Exposure: 5}},
	})}
	all := Parts{newPart(Part{Name: "guarded"}, &run)}
	run.Params = nil
	all = append(all, newPart(Part{Name: "bare"}, &run))
	for guarded, want := range map[bool]int{true: 1, false: 2} {
		if got := all.Together(guarded); len(got.Cells) != want || got.At(lockbench.Effects.At(0)).Exposure != 7 {
			t.Errorf("guarded %v: got %v, want %d cells and each occasion once", guarded, got.Cells, want)
		}
	}
	if got := all.On(lockbench.Effects.At(0)); len(got) != 1 || got[0].Name != "bare" {
		t.Errorf("parts with a finding without a guard: got %v", got)
	}
}
