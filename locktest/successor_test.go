package locktest_test

import (
	"crypto/rand"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locktest"
)

// TestSuccessor checks that a lock whose tokens a restarted process repeats is found where
// processes have successors, and nowhere else, and that a lock with random tokens is not accused.
func TestSuccessor(t *testing.T) {
	named := func(_ *testing.T, env locktest.Env) lockbench.Locker {
		return &sound{redis: env.Redis, owner: env.Owner, take: repeatably}
	}
	random := func(_ *testing.T, env locktest.Env) lockbench.Locker {
		return &sound{redis: env.Redis, owner: rand.Text(), take: repeatably}
	}
	for _, c := range []struct {
		name   string
		lock   locktest.NewLocker
		option []locktest.ExploreOption
		want   checker.Verdict
	}{
		{"tokens of the name, no successors", named, nil, checker.Held},
		{"tokens of the name", named, []locktest.ExploreOption{locktest.WithSuccessor()}, checker.Broken},
		{"random tokens", random, []locktest.ExploreOption{locktest.WithSuccessor()}, checker.Held},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := locktest.Check(t, c.lock, append(c.option, locktest.WithSchedules(1500), locktest.WithClientRetries(0))...)
			if err != nil {
				t.Fatal(err)
			}
			if f := testOf(r, lockbench.LeaseKept.At(lockbench.Crash)); f.Verdict != c.want || (r.Err() != nil) != (c.want == checker.Broken) {
				t.Errorf("%s: got %v (%v), want %v", f.Cell, f.Verdict, r.Err(), c.want)
			}
		})
	}
}
