package designtest

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/mutants"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestClaimsOfMutants checks that the tests of a design by package locktest find each fault that
// cases of this package found before.
func TestClaimsOfMutants(t *testing.T) {
	for _, c := range []struct {
		was    string // the case
		mutant string
		shared bool // all owners are in one process
		breaks lockbench.Cell
	}{
		{"a held key is refused and free again after release", "unreported-grant", false, lockbench.NoSpuriousRefusal.At(0)},
		{"fences rise", "fence-expires", false, lockbench.Fencing.At(0)},
		{"a loser is told", "silent-loss", false, lockbench.LossReported.At(lockbench.Outlived)},
		{"a late release frees nobody else's lock", "plain-del", false, lockbench.OwnerRelease.At(lockbench.Outlived)},
		{"one at a time", "get-think-set", false, lockbench.Exclusion.At(0)},
		{"one at a time", "process-token", true, lockbench.Exclusion.At(0)},
		{"a cancelled acquire leaves nothing", "dead-queue", false, lockbench.Recovery.At(lockbench.Cancel)},
	} {
		t.Run(c.mutant, func(t *testing.T) {
			d := mutant(t, c.mutant)
			inBubble(t, d, 0, func(t *testing.T, env onredis.Environment) {
				r, err := try(t, d, env, c.shared)
				if f := r.Cells[c.breaks]; f.Verdict != checker.Broken || f.Against == 0 {
					t.Errorf("%q: %s is %v (%s), want it broken; error %v", c.was, c.breaks, f.Verdict, f.Note, err)
				}
			})
		})
	}
}

func mutant(t *testing.T, name string) design.Design {
	t.Helper()
	all := mutants.Mutants()
	i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no mutant %q", name)
	}
	return all[i].Design()
}
