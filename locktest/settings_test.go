package locktest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, seed, budget, claims string
		want                       settings
		err                        string
	}{
		{name: "nothing said", want: settings{seed: 1, budget: defaultBudget()}},
		{name: "all said", seed: "7", budget: "1m30s", claims: "skew, +reentrancy,-cancel",
			want: settings{seed: 7, budget: budget{time: 90 * time.Second}, claims: claims{
				only: []lockbench.Guarantee{lockbench.Skew}, add: []lockbench.Guarantee{lockbench.Reentrancy}, drop: []lockbench.Guarantee{lockbench.Cancel},
			}}},
		{name: "schedules", budget: "2000", want: settings{seed: 1, budget: budget{schedules: 2000}}},
		{name: "no seed", seed: "-1", err: `LOCKBENCH_SEED="-1" is no seed; hint: `},
		{name: "no budget", budget: "soon", err: `LOCKBENCH_BUDGET="soon" is no budget; hint: `},
		{name: "no time", budget: "0s", err: `LOCKBENCH_BUDGET="0s" is no budget; hint: `},
		{name: "no guarantee", claims: "exclusion,+speed", err: `LOCKBENCH_CLAIMS: "+speed" is no guarantee; hint: exclusion, `},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(seedVariable, c.seed)
			t.Setenv(budgetVariable, c.budget)
			t.Setenv(claimsVariable, c.claims)
			t.Setenv(replayVariable, "")
			got, err := environment()
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got error %v, want %q in it", err, c.err)
				}
				return
			}
			if diff := cmp.Diff(got, c.want, cmp.AllowUnexported(settings{}, budget{}, claims{})); diff != "" || err != nil {
				t.Errorf("error %v, settings (-got +want):\n%s", err, diff)
			}
		})
	}
}

func TestBudgetIsShared(t *testing.T) {
	for _, c := range []struct {
		name        string
		budget      budget
		share, left budget
	}{
		{"time", budget{time: 10 * time.Second}, budget{time: 2 * time.Second}, budget{time: 7 * time.Second}},
		{"schedules", budget{schedules: 1000}, budget{schedules: 200}, budget{schedules: 900}},
		{"little", budget{schedules: 2}, budget{schedules: 1}, budget{schedules: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.budget.share(5); got != c.share {
				t.Errorf("share: got %v, want %v", got, c.share)
			}
			if got := c.budget.less(3*time.Second, 100); got != c.left {
				t.Errorf("left: got %v, want %v", got, c.left)
			}
		})
	}
}

func TestClaims(t *testing.T) {
	all := []lockbench.Guarantee{
		lockbench.Exclusion, lockbench.OwnerRelease, lockbench.NoEarlyExpiry, lockbench.Recovery,
		lockbench.LossReported, lockbench.Extend, lockbench.Fencing, lockbench.Effects,
		lockbench.NoSpuriousRefusal, lockbench.Cancel, lockbench.LostReply, lockbench.Skew,
		lockbench.ScriptFlush, lockbench.ReleaseDelay,
	}
	plain := []lockbench.Guarantee{
		lockbench.Exclusion, lockbench.OwnerRelease, lockbench.NoEarlyExpiry, lockbench.Recovery,
		lockbench.LossReported, lockbench.Effects, lockbench.NoSpuriousRefusal, lockbench.Cancel,
		lockbench.LostReply, lockbench.Skew, lockbench.ScriptFlush,
	}
	able := abilities{extend: true, fence: true, delay: true, reacquire: design.Nested}
	for _, c := range []struct {
		name, text string
		can        abilities
		want       []lockbench.Guarantee
	}{
		{"every ability", "", able, all},
		{"none", "", abilities{reacquire: design.Refused}, plain},
		{"a list", "exclusion,overrun", able, []lockbench.Guarantee{lockbench.Exclusion, lockbench.Overrun}},
		{"a change", "+reentrancy,-extend,-fencing,-release-delay", able, append(plain[:len(plain):len(plain)], lockbench.Reentrancy)},
	} {
		t.Run(c.name, func(t *testing.T) {
			claims, err := parseClaims(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(claims.of(c.can), c.want); diff != "" {
				t.Errorf("claims (-got +want):\n%s", diff)
			}
		})
	}
}

// TestClaimsTellHowToReadALook is about a lock whose first release frees what was
// acquired twice.
func TestClaimsTellHowToReadALook(t *testing.T) {
	for claims, want := range map[string]design.Reacquire{
		"": design.Refreshed, "exclusion": design.Refreshed, "reentrancy": design.Nested, "+reentrancy": design.Nested,
	} {
		t.Run(claims, func(t *testing.T) {
			c, err := parseClaims(claims)
			if got := c.read(abilities{reacquire: design.Refreshed}).reacquire; got != want || err != nil {
				t.Errorf("got %s, error %v, want %s", got, err, want)
			}
		})
	}
}

func TestPattern(t *testing.T) {
	if got, want := pattern("TestA/b.c#01"), `^TestA$/^b\.c#01$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
