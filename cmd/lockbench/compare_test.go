package main

import (
	"context"
	"flag"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/cli/alternating"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

var (
	comparisons = flag.Int("comparisons", 0, "how often TestCompareReal compares a design with itself, and with one that is a fifth slower")
	rounds      = flag.Int("rounds", 12, "runs of each side in a comparison of TestCompareReal")
)

// slowed returns d with calls that take longer by a share.
func slowed(d design.Design, share float64) design.Design {
	open := d.Open
	d.Open = func(env design.Environment) (design.Process, error) {
		p, err := open(env)
		if err != nil {
			return nil, err
		}
		return slowProcess{p, share}, nil
	}
	return d
}

type slowProcess struct {
	design.Process
	share float64
}

func (p slowProcess) Locker(o design.Observer) lockbench.Locker {
	return slowOwner{p.Process.Locker(o), p.share}
}

type slowOwner struct {
	lockbench.Locker
	share float64
}

// Acquire implements lockbench.Locker.
func (o slowOwner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	defer drag(time.Now(), o.share)
	lease, err := o.Locker.Acquire(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	return slowLease{lease, o.share}, nil
}

type slowLease struct {
	lockbench.Lease
	share float64
}

// Release implements lockbench.Lease.
func (l slowLease) Release(ctx context.Context) error {
	defer drag(time.Now(), l.share)
	return l.Lease.Release(ctx)
}

// drag stays busy for a share of the time since start: too short to sleep.
func drag(start time.Time, share float64) {
	end := time.Now().Add(time.Duration(share * float64(time.Since(start))))
	for time.Now().Before(end) {
	}
}

// TestCompareReal compares a design on this machine with itself and with a design that
// is a fifth slower. With itself, nineteen of twenty comparisons must say "~"
// throughout. It reports the outcome, and runs only on request:
//
//	go test ./cmd/lockbench -run TestCompareReal -comparisons 20 -v
func TestCompareReal(t *testing.T) {
	if *comparisons == 0 {
		t.Skip("-comparisons N")
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not in PATH")
	}
	differ, seen := 0, 0
	var visible []float64
	for i := range *comparisons {
		itself := compareReal(t, uint64(i), 0)
		if changed := changedMetrics(itself); len(changed) > 0 {
			t.Logf("comparison %d with itself: %v", i, changed)
			differ++
		}
		for _, m := range itself.Designs[0].Metrics {
			if m.Metric == "acquire.p50" && m.Visible != nil {
				visible = append(visible, *m.Visible)
			}
		}
		slow := changedMetrics(compareReal(t, uint64(i), 0.2))
		if slow["acquire.p50"] == "worse" && slow["grants_per_s"] != "better" {
			seen++
		}
	}
	t.Logf("with itself: %d of %d comparisons show a difference anywhere; a fifth slower: %d of %d show it", differ, *comparisons, seen, *comparisons)
	if slices.Sort(visible); len(visible) > 0 {
		t.Logf("of acquire.p50 a difference of %.0f %% is visible, by the median of those with itself", 100*visible[len(visible)/2])
	}
	if differ > max(1, *comparisons/20) {
		t.Errorf("%d of %d comparisons of a design with itself show a difference", differ, *comparisons)
	}
	if seen < *comparisons-max(1, *comparisons/20) {
		t.Errorf("a design a fifth slower is seen in %d of %d comparisons", seen, *comparisons)
	}
}

// compareReal compares a design with itself, slowed by a share of every call.
func compareReal(t *testing.T, seed uint64, share float64) results.Comparison {
	t.Helper()
	o := compareOptions{settings: runOptions{workload: "mutex", params: tour()}, rounds: *rounds}
	params := &o.settings.params
	params.Clients, params.Keys, params.KeyChoice, params.Seed = 2, 2, "own", seed
	params.Hold, params.Duration, params.Warmup = workloads.Always(0), 200*time.Millisecond, 20*time.Millisecond
	p, err := o.plan(t.Context(), []string{"lua-token/strategy", "lua-token/strategy"})
	if err != nil {
		t.Fatal(err)
	}
	p.Sides[1].Design = slowed(p.Sides[1].Design, share)
	p.Settings.SelfCheck, p.Settings.History = false, t.TempDir()
	s, err := alternating.New(p)
	if err != nil {
		t.Fatal(err)
	}
	base, changed, err := s.Run(t.Context(), runner.Sink{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := results.Compare(base, changed, results.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// changedMetrics returns the figures that differ.
func changedMetrics(c results.Comparison) map[string]string {
	found := make(map[string]string)
	for _, m := range c.Designs[0].Metrics {
		if m.Change == "worse" || m.Change == "better" {
			found[m.Metric] = m.Change
		}
	}
	return found
}
