package locktest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
)

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, seed, budget, claims string
		want                       exploreSettings
		err                        string
	}{
		{name: "nothing said", want: exploreSettings{settings: settings{seed: 1}, budget: defaultBudget()}},
		{name: "all said", seed: "7", budget: "1m30s", claims: "+reentrancy,-lease@cancel",
			want: exploreSettings{settings: settings{seed: 7, variable: "+reentrancy,-lease@cancel"}, budget: budget{time: 90 * time.Second}}},
		{name: "schedules", budget: "2000", want: exploreSettings{settings: settings{seed: 1}, budget: budget{schedules: 2000}}},
		{name: "no seed", seed: "-1", err: `LOCKBENCH_SEED="-1" is no seed; hint: `},
		{name: "no budget", budget: "soon", err: `LOCKBENCH_BUDGET="soon" is no budget; hint: `},
		{name: "no time", budget: "0s", err: `LOCKBENCH_BUDGET="0s" is no budget; hint: `},
		{name: "no guarantee", claims: "exclusion,+speed", err: `LOCKBENCH_CLAIMS="exclusion,+speed": claim "+speed": unknown guarantee "speed"; hint: `},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(seedVariable, c.seed)
			t.Setenv(budgetVariable, c.budget)
			t.Setenv(claimsVariable, c.claims)
			t.Setenv(replayVariable, "")
			got, err := newExploreSettings(nil)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got error %v, want %q in it", err, c.err)
				}
				return
			}
			c.want.retries = usualRetries
			if diff := cmp.Diff(got, c.want, cmp.AllowUnexported(exploreSettings{}, settings{}, budget{})); diff != "" || err != nil {
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
	able := abilities{extend: true, fence: true, delay: true, reacquire: design.Nested}
	promised := lockbench.LeaseClaims(lockbench.ReleaseDelay, lockbench.Fencing)
	changed := promised.Without(lockbench.Fencing, lockbench.ReleaseDelay).With(lockbench.Reentrancy).
		But(lockbench.Exception{Gives: []lockbench.Guarantee{lockbench.LeaseKept}, Under: lockbench.Cancel})
	for _, c := range []struct {
		name     string
		option   []string
		variable string
		can      abilities
		want     lockbench.Claims
	}{
		{name: "no ability", want: lockbench.LeaseClaims()},
		{name: "every ability", can: able, want: promised},
		{name: "a list", variable: "exclusion,fencing", can: able,
			want: lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion, lockbench.Fencing}, Survives: lockbench.Survivable}},
		{name: "a change", variable: "+reentrancy -fencing -release-delay -lease@cancel", can: able, want: changed},
		{name: "an option", option: []string{"exclusion", "@crash"},
			want: lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion}, Survives: lockbench.Crash}},
		{name: "the environment has the last word", option: []string{"exclusion", "@crash"}, variable: "+recovery +@pause",
			want: lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion, lockbench.Recovery}, Survives: lockbench.Crash | lockbench.Pause}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := settings{claims: c.option, variable: c.variable}
			got, err := s.claimed(c.can)
			if diff := cmp.Diff(got.Terms(), c.want.Terms()); diff != "" || err != nil {
				t.Errorf("error %v, claims (-got +want):\n%s", err, diff)
			}
		})
	}
}

// TestClaimsTellHowToReadALook is about a lock that frees a key acquired twice with its first
// release.
func TestClaimsTellHowToReadALook(t *testing.T) {
	for claims, want := range map[string]design.Reacquire{
		"": design.Refreshed, "exclusion": design.Refreshed, "reentrancy": design.Nested, "+reentrancy": design.Nested,
	} {
		t.Run(claims, func(t *testing.T) {
			s := settings{variable: claims}
			c, err := s.claimed(abilities{})
			if got := read(abilities{reacquire: design.Refreshed}, c).reacquire; got != want || err != nil {
				t.Errorf("got %s, error %v, want %s", got, err, want)
			}
		})
	}
}

// TestUnmet checks that a guarantee or a condition without a case is listed once.
func TestUnmet(t *testing.T) {
	var cells []lockbench.Cell
	for _, i := range lockbench.Guarantees()[1:] {
		cells = append(cells, i.Name.At(0))
	}
	for _, i := range lockbench.AllConditions()[2:] {
		cells = append(cells, lockbench.Recovery.At(i.Condition|lockbench.Outlived))
	}
	if diff := cmp.Diff(unmet(cells), []lockbench.Cell{lockbench.Exclusion.At(0), lockbench.Exclusion.At(lockbench.Pause)}); diff != "" {
		t.Errorf("unmet (-got +want):\n%s", diff)
	}
}

func TestPattern(t *testing.T) {
	if got, want := pattern("TestA/b.c#01"), `^TestA$/^b\.c#01$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestFaultsOfCases checks that the table of faults marks exactly the faults that the test cases
// use.
func TestFaultsOfCases(t *testing.T) {
	var want, got []string
	for _, row := range fault.Rows() {
		if row.Locktest {
			want = append(want, string(row.Kind))
		}
	}
	for _, c := range testCases {
		got = append(got, c.faults...)
	}
	got = slices.Compact(got)
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("faults (-got +want):\n%s", diff)
	}
}

// TestOptionTypes checks that the compiler refuses an option without effect.
func TestOptionTypes(t *testing.T) {
	for name, c := range map[string]struct {
		option       any
		run, explore bool
	}{
		"WithClaims":        {WithClaims("exclusion"), true, true},
		"WithSeed":          {WithSeed(1), true, true},
		"WithLeaseUnit":     {WithLeaseUnit(time.Second), true, true},
		"WithTTL":           {WithTTL(time.Second), true, false},
		"WithSession":       {WithSession(), true, false},
		"WithBudget":        {WithBudget(time.Second), false, true},
		"WithSchedules":     {WithSchedules(1), false, true},
		"WithClientRetries": {WithClientRetries(0), false, true},
	} {
		_, run := c.option.(RunOption)
		_, explore := c.option.(ExploreOption)
		if run != c.run || explore != c.explore {
			t.Errorf("%s: for Run %t, want %t; for Explore %t, want %t", name, run, c.run, explore, c.explore)
		}
	}
}
