package limitsearch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
)

// TestLeaseOfExponentialHolds checks a search with exponential holds. The shortest lease that none
// of n holds outlives is the longest of them, about the mean times ln n; a lease that is tried
// twice has 2n holds.
func TestLeaseOfExponentialHolds(t *testing.T) {
	t.Parallel()
	const mean, risk = 5 * time.Millisecond, 0.001
	n, err := limits.Samples(risk, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	var leases []float64
	for range 200 {
		search, err := limits.New(limits.Config{Start: 2e9, Least: 1e6, Most: 1e12, Unit: 1e6, Confirmations: 1})
		if err != nil {
			t.Fatal(err)
		}
		for v, ok := search.Next(); ok; v, ok = search.Next() {
			trial := results.LimitTrial{Run: results.Run{RunFigures: results.RunFigures{Counts: results.Counts{Grants: n}}}}
			for range n {
				if random.ExpFloat64()*float64(mean) > v {
					trial.Outlived++
				}
			}
			outcome, _ := endsWithin(n, &trial)
			search.Report(outcome)
		}
		leases = append(leases, search.Result().Limit)
	}
	// In 95 of 100 searches, the share of holds that outlives the lease found is at most the risk.
	tooShort, sum := 0, 0.0
	for _, v := range leases {
		sum += v
		if math.Exp(-v/float64(mean)) > risk {
			tooShort++
		}
	}
	if tooShort > 10 {
		t.Errorf("%d of 200 leases are outlived by more than %v of all holds, want 10 at most", tooShort, risk)
	}
	got, want := sum/200, float64(mean)*(math.Log(float64(n))+0.5)
	if got < 0.95*want || got > 1.15*want {
		t.Errorf("leases of %v on average, want about %v", time.Duration(got), time.Duration(want))
	}
}

func TestMeets(t *testing.T) {
	targets, err := ParseTargets([]string{"grants_per_s>=100"})
	if err != nil {
		t.Fatal(err)
	}
	due := func(change func(*runinfo.Arrivals)) *measure.Arrivals {
		a := &measure.Arrivals{Arrivals: runinfo.Arrivals{Due: 1000, Started: 1000}}
		change(&a.Arrivals)
		return a
	}
	for _, c := range []struct {
		name     string
		arrivals *measure.Arrivals
		grants   int64
		rate     float64
		want     limits.Outcome
	}{
		{"met", due(func(*runinfo.Arrivals) {}), 1000, 100, limits.Holds},
		{"missed", due(func(*runinfo.Arrivals) {}), 1000, 99, limits.Fails},
		{"refused", due(func(*runinfo.Arrivals) {}), 900, 100, limits.Fails},
		{"none granted", due(func(*runinfo.Arrivals) {}), 0, 0, limits.Fails},
		{"closed loop", nil, 1000, 100, limits.Unable},
		{"nothing due", due(func(a *runinfo.Arrivals) { a.Due, a.Started = 0, 0 }), 0, 0, limits.Unable},
		{"a busy machine", due(func(a *runinfo.Arrivals) { a.Overslept = 200 }), 1000, 100, limits.Unable},
		{"busy clients", due(func(a *runinfo.Arrivals) { a.Waiting, a.Started, a.BusyNS = 200, 800, 9; a.WakingNS = 1 }), 800, 100, limits.Fails},
		{"nobody was busy", due(func(a *runinfo.Arrivals) { a.Waiting, a.Started, a.BusyNS = 200, 800, 1; a.WakingNS = 9 }), 800, 100, limits.Unable},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := results.Judged{
				Verdicts: checker.Result{Ops: 1000, Grants: c.grants, Refused: 1000 - c.grants},
				Measures: measure.Measures{Arrivals: c.arrivals, GrantsPerSecond: c.rate, Span: time.Second},
			}
			j.Measures.Measured.Grants = c.grants
			if got, why := targets.meets(&j); got != c.want {
				t.Errorf("got %v (%s), want %v", got, why, c.want)
			}
		})
	}
}

func TestLeaseUnit(t *testing.T) {
	for name, want := range map[string]time.Duration{
		"lua-token/token":    time.Second,
		"setnx-getset/naive": time.Second,
		"lua-token/strategy": time.Millisecond,
	} {
		found, err := impls.Match(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := LeaseUnit(found[0]); got != want {
			t.Errorf("leases of %s are multiples of %v, want %v", name, got, want)
		}
	}
}

// TestStandstillsOfTrials checks that an outcome that standstills alone may have caused does not
// count: the value is tried again, a limited number of times. A worse outcome counts.
func TestStandstillsOfTrials(t *testing.T) {
	for _, c := range []struct {
		outlived, times, clients int64
		want                     bool
	}{{0, 1, 8, false}, {1, 0, 8, false}, {8, 1, 8, true}, {9, 1, 8, false}, {16, 2, 8, true}} {
		if got := heldUp(c.times, c.clients, &results.LimitTrial{Outlived: c.outlived}); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	for still, want := range map[time.Duration]bool{0: false, 20 * time.Millisecond: false, 40 * time.Millisecond: true} {
		j := results.Judged{Verdicts: checker.Result{Standstills: checker.Standstills{Times: 1, For: still}}, Measures: measure.Measures{Span: 3 * time.Second}}
		if got := stoodStill(&j); got != want {
			t.Errorf("%v of 3s: %t, want %t", still, got, want)
		}
	}
}

func TestTriesAgainAfterStandstills(t *testing.T) {
	steps, err := limits.New(limits.Config{Rising: true, Start: 100, Least: 1, Most: 1000, Votes: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &Search{steps: steps}
	for n := range mostAgain + 1 {
		if v, ok := steps.Next(); v != 100 || !ok {
			t.Fatalf("after %d standstills: tries %v", n, v)
		}
		s.report(limits.Unable, true)
	}
	if v, _ := steps.Next(); v >= 100 {
		t.Errorf("tries %v, want less than 100", v)
	}
	s.report(limits.Fails, false)
	if v, _ := steps.Next(); v >= 50 {
		t.Errorf("tries %v, want less than 50", v)
	}
}

// TestHurry checks that a search finishes when the time that is left is that of three trials.
func TestHurry(t *testing.T) {
	for _, c := range []struct {
		budget, trial time.Duration
		trials        int // after which it finishes
	}{{10 * time.Second, time.Second, 8}, {10 * time.Second, 3 * time.Second, 1}, {0, time.Hour, 0}} {
		steps, err := limits.New(limits.Config{Rising: true, Start: 100, Least: 1, Most: 1e6, Votes: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, now := &Search{steps: steps, Budget: c.budget}, time.Unix(0, 0)
		s.hurry(now)
		for n := 1; n <= 20; n++ {
			steps.Report(limits.Holds)
			now = now.Add(c.trial)
			s.hurry(now)
			if early := steps.Result().Early; early != (c.trials > 0 && n >= c.trials) {
				t.Errorf("budget %v, %v after %d trials of %v: finishing %v", c.budget, now.Sub(time.Unix(0, 0)), n, c.trial, early)
			}
		}
	}
}
