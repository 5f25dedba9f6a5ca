package workloads

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	for _, name := range []string{"mutex", "oversell", "redeem", "cron", "slow-step", "reentrant"} {
		w, err := Find(Live, name)
		if err != nil || w.Name != name {
			t.Errorf("Find(%q) = %q, %v", name, w.Name, err)
		}
		if w.Summary == "" || w.Step == nil {
			t.Errorf("workload %s lacks a summary or a step", name)
		}
	}
	_, err := Find(Live, "overselll")
	if err == nil || !strings.Contains(err.Error(), "did you mean oversell?") {
		t.Errorf("Find(overselll) = %v, want the near match", err)
	}
}

func TestExercises(t *testing.T) {
	with := func(base []string, more ...string) []string { return slices.Concat(base, more) }
	alone := []string{"no-spurious-refusal", "fencing"}
	contended := with(alone, "exclusion", "lease")
	slow := with(contended, "exclusion@outlived", "owner-release@outlived", "loss-reported@outlived")
	tests := []struct {
		name     string
		workload Program
		change   func(*Options)
		want     []string
	}{
		{"one client", Must("mutex"), func(o *Options) { o.Clients = 1 }, alone},
		{"own keys", Must("mutex"), func(o *Options) { o.KeyChoice = Own }, alone},
		{"slow but alone", Must("mutex"), func(o *Options) { o.KeyChoice, o.Slow = Own, 1 }, alone},
		{"contended", Must("mutex"), nil, contended},
		{"slow holds", Must("mutex"), func(o *Options) { o.Slow = 0.1 }, slow},
		{"stallers", Must("mutex"), func(o *Options) { o.Stallers = 4 }, slow},
		{"stallers beside own keys", Must("mutex"), func(o *Options) { o.KeyChoice, o.Stallers = Own, 4 },
			with(alone, "exclusion@outlived", "owner-release@outlived", "loss-reported@outlived")},
		{"one staller", Must("mutex"), func(o *Options) { o.KeyChoice, o.Stallers = Own, 1 }, alone},
		{"slow-step", Must("slow-step"), nil, slow},
		{"oversell", Must("oversell"), nil, with(contended, "effects")},
		{"oversell alone", Must("oversell"), func(o *Options) { o.KeyChoice = Own }, alone},
		{"redeem", Must("redeem"), nil, with(contended, "effects")},
		{"reentrant", Must("reentrant"), nil, with(contended, "reentrancy")},
		{"reentrant at depth one", Must("reentrant"), func(o *Options) { o.Depth = 1 }, contended},
		{"cron", Must("cron"), nil, with(contended, "release-delay")},
		{"cron with a job longer than its lease", Must("cron"), func(o *Options) { o.Hold = Always(3 * time.Second) }, with(contended, "release-delay")},
		{"cron alone", Must("cron"), func(o *Options) { o.Clients, o.Hold = 1, Always(3*time.Second) }, alone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := tt.workload.Options(options(tt.change))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, cell := range tt.workload.Cells(o) {
				got = append(got, cell.String())
			}
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
	if err := NewRun(o, nil).Prepare(t.Context(), s, Must("oversell")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.calls, []string{"write 42", "write 42", "write 42"}); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(s.version, []uint64{1, 2, 3}); diff != "" {
		t.Errorf("versions (-got +want):\n%s", diff)
	}
}
