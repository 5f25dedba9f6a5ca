package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// TestCell says what parts amount to together.
func TestCell(t *testing.T) {
	found := func(part string, v checker.Verdict, against int64) Evidence {
		f := Finding{Finding: checker.Finding{Verdict: v, Claimed: true, Exercised: true, Exposure: 10, Against: against}}
		if v == checker.Broken {
			f.Violations = 3
		}
		return Evidence{Part: part, Finding: f}
	}
	want := func(v checker.Verdict, exposure, violations, against int64, by string) MatrixCell {
		return MatrixCell{By: by, Finding: Finding{Finding: checker.Finding{Verdict: v, Claimed: true, Exercised: true, Exposure: exposure, Violations: violations, Against: against}}}
	}
	for _, c := range []struct {
		name     string
		evidence []Evidence
		unproven map[string]bool
		want     MatrixCell
	}{
		{"nothing", nil, nil, MatrixCell{}},
		{"held by both", []Evidence{found("live", checker.Held, 0), found("explore", checker.Held, 0)}, nil, want(checker.Held, 20, 0, 0, "live")},
		{"broken by one", []Evidence{found("live", checker.Held, 0), found("explore", checker.Broken, 3)}, nil, want(checker.Broken, 20, 3, 3, "explore")},
		{"broken by the other", []Evidence{found("live", checker.Broken, 3), found("explore", checker.Held, 0)}, nil, want(checker.Broken, 20, 3, 3, "live")},
		{"broken by both", []Evidence{found("live", checker.Broken, 0), found("explore", checker.Broken, 1)}, nil, want(checker.Broken, 20, 6, 1, "explore")},
		{"held outweighs untested and n/a", []Evidence{found("a", checker.Untested, 0), found("b", checker.NotApplicable, 0), found("c", checker.Held, 0)}, nil, want(checker.Held, 30, 0, 0, "c")},
		{"broken, and it does not count", []Evidence{found("explore", checker.Broken, 0)}, nil, want(checker.Broken, 10, 3, 0, "explore")},
		{"held where nothing could be caught", []Evidence{found("live", checker.Held, 0)}, map[string]bool{"live": true}, want(checker.Untested, 10, 0, 0, "live")},
		{"held elsewhere too", []Evidence{found("live", checker.Held, 0), found("explore", checker.Held, 0)}, map[string]bool{"live": true}, want(checker.Held, 10, 0, 0, "explore")},
		{"broken where nothing could be caught", []Evidence{found("live", checker.Broken, 3)}, map[string]bool{"live": true}, want(checker.Broken, 10, 3, 3, "live")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := MatrixCell{Evidence: c.evidence}
			got.settle(lockbench.Exclusion, c.unproven)
			got.Evidence = nil
			if diff := cmp.Diff(got, c.want, cmp.AllowUnexported(Finding{})); diff != "" {
				t.Errorf("cell (-got +want):\n%s", diff)
			}
		})
	}
}
