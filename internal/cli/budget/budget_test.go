package budget

import (
	"regexp"
	"testing"
	"time"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

func plan(t *testing.T, change func(*workloads.Options), faults []string, patterns ...string) *runner.Plan {
	t.Helper()
	designs, err := impls.Match(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	p := &runner.Plan{Options: workloads.Defaults(), Faults: faults}
	change(&p.Options)
	for _, d := range designs {
		p.Subjects = append(p.Subjects, runner.Subject{Design: d})
	}
	return p
}

// TestDivide asserts that the parts add up to the whole, or little less, and that the budget in an
// error is enough, and the smallest that is.
func TestDivide(t *testing.T) {
	few := []string{"lua-token/strategy"}
	for _, c := range []struct {
		name    string
		options func(*workloads.Options)
		faults  []string
		designs []string
		fixed   time.Duration
	}{
		{"one design", func(*workloads.Options) {}, nil, few, -1},
		{"many", func(*workloads.Options) {}, nil, []string{"*/*"}, -1},
		{"stallers", func(o *workloads.Options) { o.Stallers = 12 }, nil, []string{"lua-token/*"}, -1},
		{"faults", func(*workloads.Options) {}, []string{"crash", "lost-reply"}, few, -1},
		{"not explored", func(*workloads.Options) {}, nil, few, 0},
		{"explored for so long", func(*workloads.Options) {}, nil, []string{"lua-token/*"}, 2 * time.Second},
		{"nothing that can be explored", func(*workloads.Options) {}, nil, []string{"file/*"}, -1},
		{"cron", func(o *workloads.Options) { o.Period = 2 * time.Second }, nil, few, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, total := range []time.Duration{5 * time.Minute, time.Hour} {
				p := plan(t, c.options, c.faults, c.designs...)
				explore, err := Divide(total, p, c.fixed)
				if err != nil {
					t.Fatal(err)
				}
				costs := newCosts(p)
				all := costs.of(p.Options.Duration) + costs.exploring(explore)
				if all > total || all < total*9/10 {
					t.Errorf("%v: %d runs of %v, explored for %v each, are %v", total, len(p.Subjects), p.Options.Duration, explore, all)
				}
				if c.fixed >= 0 && explore != c.fixed {
					t.Errorf("explored for %v each, want %v", explore, c.fixed)
				}
			}
			smallest := named(t, plan(t, c.options, c.faults, c.designs...), c.fixed)
			if _, err := Divide(smallest, plan(t, c.options, c.faults, c.designs...), c.fixed); err != nil {
				t.Error(err)
			}
			if _, err := Divide(smallest-2*time.Second, plan(t, c.options, c.faults, c.designs...), c.fixed); err == nil {
				t.Errorf("%v is said to be the smallest, and less is enough", smallest)
			}
		})
	}
}

var hint = regexp.MustCompile(`hint: --budget (\S+), or fewer designs$`)

// named returns the smallest budget, from the error.
func named(t *testing.T, p *runner.Plan, fixed time.Duration) time.Duration {
	t.Helper()
	_, err := Divide(time.Second, p, fixed)
	if err == nil {
		t.Fatal("a second is enough")
	}
	m := hint.FindStringSubmatch(err.Error())
	if m == nil {
		t.Fatalf("%v: no smallest budget", err)
	}
	smallest, err := time.ParseDuration(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return smallest
}
