package mutants_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// decidable are cells that an exploration on one server can show to be broken. They include each
// guarantee and each condition at least once.
var decidable = []lockbench.Cell{
	lockbench.Exclusion.At(0), lockbench.Exclusion.At(lockbench.Outlived), lockbench.Exclusion.At(lockbench.Skew),
	lockbench.Exclusion.At(lockbench.Cancel), lockbench.Exclusion.At(lockbench.LostReply),
	lockbench.LeaseKept.At(0), lockbench.OwnerRelease.At(lockbench.Outlived), lockbench.Reentrancy.At(0),
	lockbench.ReleaseDelay.At(0), lockbench.LossReported.At(lockbench.Outlived), lockbench.LossReported.At(lockbench.LostReply),
	lockbench.Answers.At(lockbench.ScriptFlush), lockbench.NoSpuriousRefusal.At(0), lockbench.Recovery.At(lockbench.Crash),
	lockbench.Recovery.At(lockbench.LostReply), lockbench.Recovery.At(lockbench.Cancel), lockbench.Fencing.At(0), lockbench.Effects.At(0),
	lockbench.WakeUp.At(0),
}

func TestEveryGuaranteeHasAMutant(t *testing.T) {
	for _, i := range lockbench.Guarantees() {
		if !slices.ContainsFunc(decidable, func(cell lockbench.Cell) bool { return cell.Guarantee == i.Name }) {
			t.Errorf("no cell of %s is decidable", i.Name)
		}
	}
	for _, cell := range decidable {
		breaks := func(m mutants.Mutant) bool { return slices.Contains(m.Breaks, cell) }
		if !slices.ContainsFunc(mutants.Mutants(), breaks) {
			t.Errorf("no mutant breaks %s", cell)
		}
	}
}

func TestEntries(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants.Mutants() {
		d := m.Design()
		if names[m.Name] || m.Name == "" || m.Seen == "" || m.Mechanism == "" || len(m.Breaks) == 0 {
			t.Errorf("mutant %q: its name was there before, or something is not said of it: %+v", m.Name, m)
		}
		names[m.Name] = true
		for _, cell := range m.Breaks {
			if !d.Claims.Claims(cell) {
				t.Errorf("mutant %q is to break %s and does not claim it", m.Name, cell)
			}
		}
	}
	if len(names) < 28 {
		t.Errorf("%d mutants, want 28 at least", len(names))
	}
}

// TestMutantsArePlausible checks that every mutant works in normal use, without faults.
func TestMutantsArePlausible(t *testing.T) {
	designtest.Each(t, func(t *testing.T, env onredis.Environment) {
		for _, m := range mutants.Mutants() {
			t.Run(m.Name, func(t *testing.T) { takeTurns(scene(t, m.Design(), env)) })
		}
	})
}

// scene returns a scene with leases that outlast the test, however slow the machine is.
func scene(t *testing.T, d design.Design, env onredis.Environment) *designtest.Scene {
	t.Helper()
	s := designtest.NewScene(t, d, env, 2)
	s.TTL = time.Hour
	return s
}

func takeTurns(s *designtest.Scene) {
	a, b := s.Locker(), s.Locker()
	for range 2 {
		held := s.Acquire(a)
		s.Refused(b)
		s.Release(held)
		held = s.Acquire(b)
		s.Refused(a)
		s.Release(held)
	}
}

func TestSound(t *testing.T) {
	scenes := map[string]func(*designtest.Scene){
		"take turns":             takeTurns,
		"extend":                 extend,
		"nest":                   nest,
		"fences rise":            fencesRise,
		"a loser is told":        loserTold,
		"a delay keeps all out":  delayed,
		"a second release fails": secondRelease,
	}
	designtest.Each(t, func(t *testing.T, env onredis.Environment) {
		for _, d := range mutants.Sound() {
			for name, show := range scenes {
				t.Run(d.Name+"/"+name, func(t *testing.T) { show(scene(t, d, env)) })
			}
		}
	})
}

func extend(s *designtest.Scene) {
	held := s.Acquire(s.Locker())
	e, _ := lockbench.Ability[lockbench.Extender](held)
	s.Want(e.Extend(s.Context(), 2*s.TTL), nil)
	r, _ := lockbench.Ability[lockbench.TTLer](held)
	if left, err := r.TTL(s.Context()); err != nil || left < 3*s.TTL/2 || left > 2*s.TTL {
		s.Errorf("%v left, error %v, want about %v", left, err, 2*s.TTL)
	}
	s.Release(held)
}

// nest checks a second acquire by the owner: some locks count levels, the others refuse it.
func nest(s *designtest.Scene) {
	a, b := s.Locker(), s.Locker()
	outer := s.Acquire(a)
	inner, err := a.Acquire(s.Context(), designtest.Key, lockbench.Options{TTL: s.TTL})
	if err != nil {
		s.Want(err, lockbench.ErrNotAcquired)
		s.Release(outer)
		return
	}
	s.Release(inner)
	s.Refused(b)
	s.Release(outer)
	s.Release(s.Acquire(b))
}

func fencesRise(s *designtest.Scene) {
	var got []uint64
	for range 3 {
		held := s.Acquire(s.Locker())
		f, _ := lockbench.Ability[lockbench.Fencer](held)
		got = append(got, f.Fence())
		s.Release(held)
	}
	if diff := cmp.Diff(got, []uint64{1, 2, 3}); diff != "" {
		s.Errorf("fences (-got +want):\n%s", diff)
	}
}

func loserTold(s *designtest.Scene) {
	a, b := s.Locker(), s.Locker()
	lost := s.Acquire(a)
	s.Expire()
	held := s.Acquire(b)
	e, _ := lockbench.Ability[lockbench.Extender](lost)
	s.Want(e.Extend(s.Context(), s.TTL), lockbench.ErrNotHeld)
	s.Want(lost.Release(s.Context()), lockbench.ErrNotHeld)
	s.Refused(a)
	s.Release(held)
}

func delayed(s *designtest.Scene) {
	a, b := s.Locker(), s.Locker()
	d, _ := lockbench.Ability[lockbench.DelayedReleaser](s.Acquire(a))
	s.Want(d.ReleaseAfter(s.Context(), s.TTL), nil)
	s.Refused(a)
	s.Refused(b)
}

func secondRelease(s *designtest.Scene) {
	held := s.Acquire(s.Locker())
	s.Release(held)
	s.Want(held.Release(s.Context()), lockbench.ErrNotHeld)
}
