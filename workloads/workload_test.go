package workloads

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

func TestFind(t *testing.T) {
	for _, name := range []string{"mutex", "oversell", "redeem", "cron", "slow-step", "reentrant"} {
		w, err := Find(name)
		if err != nil || w.Name != name {
			t.Errorf("Find(%q) = %q, %v", name, w.Name, err)
		}
		if w.Summary == "" || w.Step == nil {
			t.Errorf("workload %s lacks a summary or a step", name)
		}
	}
	_, err := Find("overselll")
	if err == nil || !strings.Contains(err.Error(), "did you mean oversell?") {
		t.Errorf("Find(overselll) = %v, want the near match", err)
	}
}

func TestExercises(t *testing.T) {
	alone := []lockbench.Guarantee{lockbench.NoSpuriousRefusal, lockbench.Fencing}
	contended := append(slices.Clone(alone), lockbench.Exclusion, lockbench.NoEarlyExpiry, lockbench.Fairness)
	slow := append(slices.Clone(contended), lockbench.Overrun, lockbench.OwnerRelease, lockbench.LossReported)
	with := func(base []lockbench.Guarantee, more ...lockbench.Guarantee) []lockbench.Guarantee {
		return append(slices.Clone(base), more...)
	}
	tests := []struct {
		name     string
		workload Workload
		change   func(*Options)
		want     []lockbench.Guarantee
	}{
		{"one client", Mutex(), func(o *Options) { o.Clients = 1 }, alone},
		{"own keys", Mutex(), func(o *Options) { o.KeyChoice = Own }, alone},
		{"slow but alone", Mutex(), func(o *Options) { o.KeyChoice, o.Slow = Own, 1 }, alone},
		{"contended", Mutex(), nil, contended},
		{"slow holds", Mutex(), func(o *Options) { o.Slow = 0.1 }, slow},
		{"slow keys", Mutex(), func(o *Options) { o.SlowKeys = 0.1 }, slow},
		{"slow-step", SlowStep(), nil, slow},
		{"oversell", Oversell(), nil, with(contended, lockbench.Effects)},
		{"oversell alone", Oversell(), func(o *Options) { o.KeyChoice = Own }, alone},
		{"redeem", Redeem(), nil, with(contended, lockbench.Effects)},
		{"reentrant", Reentrant(), nil, with(contended, lockbench.Reentrancy)},
		{"reentrant at depth one", Reentrant(), func(o *Options) { o.Depth = 1 }, contended},
		{"cron", Cron(), nil, with(contended, lockbench.ReleaseDelay)},
		{"cron with a job longer than its lease", Cron(), func(o *Options) { o.Hold = Always(3 * time.Second) }, with(contended, lockbench.Extend, lockbench.ReleaseDelay)},
		{"cron alone", Cron(), func(o *Options) { o.Clients, o.Hold = 1, Always(3*time.Second) }, alone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := tt.workload.Options(options(tt.change))
			if err != nil {
				t.Fatal(err)
			}
			got := tt.workload.Exercises(o)
			slices.Sort(got)
			want := slices.Sorted(slices.Values(tt.want))
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("exercises (-got +want):\n%s", diff)
			}
		})
	}
}

func TestPrepare(t *testing.T) {
	o := options(func(o *Options) { o.Keys, o.Stock = 3, 42 }).OrDefaults()
	s := &script{}
	if err := Oversell().Prepare(t.Context(), s, o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.calls, []string{"write 42", "write 42", "write 42"}); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(s.version, []uint64{1, 2, 3}); diff != "" {
		t.Errorf("versions (-got +want):\n%s", diff)
	}
}
