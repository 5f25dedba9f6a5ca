package load

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/nats"
	"github.com/lockbench/lockbench/workloads"
)

func TestHeader(t *testing.T) {
	server := embedded(t)
	d := tokenDesign()
	d.Tolerance, d.Reacquire, d.RenewsUnseen, d.OwnStamps = time.Second, design.Nested, true, true
	c := Config{Design: d, Services: backend.Group{server}, Workload: workloads.Must("slow-step")}
	o, err := c.Workload.Options(options(func(o *workloads.Options) {
		o.Warmup, o.Seed, o.TTL = 100*time.Millisecond, 7, 200*time.Millisecond
	}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := header(c, o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Params["ttl_ns"] != 2e8 || got.Params["hold"] != "1ms" || got.Params["slow"] != 1.0 {
		t.Errorf("params = %v, want the options as run", got.Params)
	}
	if got.Environment.Go == "" || got.Environment.CPUs == 0 || got.Environment.Version == "" {
		t.Errorf("environment = %+v, want it filled in", got.Environment)
	}
	got.Params, got.Environment = nil, runinfo.Environment{}
	tested := c.Workload.Cells(o)
	slices.SortFunc(tested, lockbench.Cell.Compare)
	want := history.Header{
		Design: "test/token", Claims: d.Claims, Reacquire: "nested", RenewsUnseen: true, Stamps: "adapter", ToleranceNS: 1e9,
		Exercises: tested, Workload: "slow-step", Seed: 7, WarmupNS: 1e8, Server: c.services().Info(),
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("header (-got +want):\n%s", diff)
	}
	c.Host = &Host{Server: runinfo.Server{Kind: design.Private, Version: "redis 8", Address: "unix:far"}}
	if got, err = header(c, o); err != nil || got.Server != c.Host.Server {
		t.Errorf("server %+v, error %v; want the one of the host", got.Server, err)
	}
}

// TestExercisesOfRenewingDesign: slow holders do not make it lose its lock.
func TestExercisesOfRenewingDesign(t *testing.T) {
	o := options(func(o *workloads.Options) { o.Slow = 0.5 }).OrDefaults()
	for _, renews := range []bool{false, true} {
		d := tokenDesign()
		d.Renews = renews
		found := exercises(Config{Design: d, Workload: workloads.Must("mutex")}, o)
		got := []bool{
			slices.Contains(found, lockbench.Exclusion.At(lockbench.Outlived)),
			slices.Contains(found, lockbench.OwnerRelease.At(lockbench.Outlived)),
			slices.Contains(found, lockbench.LossReported.At(lockbench.Outlived)),
		}
		if diff := cmp.Diff(got, []bool{true, !renews, !renews}); diff != "" {
			t.Errorf("renews %v: exclusion, owner-release, loss-reported, all @outlived (-got +want):\n%s", renews, diff)
		}
	}
}

// TestExercisesOfFaults: cells that both faults and the workload test are listed
// once.
func TestExercisesOfFaults(t *testing.T) {
	all := []fault.Fault{{Kind: fault.Pause}, {Kind: fault.Skew}, {Kind: fault.Crash}}
	o := options(func(o *workloads.Options) { o.Slow = 0.5 }).OrDefaults()
	var got []string
	for _, cell := range exercises(Config{Design: tokenDesign(), Workload: workloads.Must("mutex"), Faults: all}, o) {
		got = append(got, cell.String())
	}
	want := []string{
		"exclusion", "exclusion@outlived", "exclusion@skew", "lease", "owner-release@outlived",
		"no-spurious-refusal", "recovery@crash", "fencing", // under skew it is unknown which client lost the lock to which
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("exercises (-got +want):\n%s", diff)
	}
}

// TestExercisesOfServices: scripts are Redis's, so other services cannot forget them.
func TestExercisesOfServices(t *testing.T) {
	all := []fault.Fault{{Kind: fault.RestartAOF}}
	flushed := lockbench.Answers.At(lockbench.ScriptFlush)
	d := tokenDesign()
	for _, backend := range []design.Backend{nil, nats.Backend{}} {
		d.Backend = backend
		found := exercises(Config{Design: d, Workload: workloads.Must("mutex"), Faults: all}, options(nil).OrDefaults())
		if got, want := slices.Contains(found, flushed), backend == nil; got != want {
			t.Errorf("on %T: %v is listed %v, want %v", backend, flushed, got, want)
		}
	}
}

func TestProcessRandom(t *testing.T) {
	draw := func(seed uint64, process int) string {
		var b [16]byte
		if _, err := io.ReadFull(processRandom(seed, process), b[:]); err != nil {
			t.Fatal(err)
		}
		return string(b[:])
	}
	if first, again := draw(1, 0), draw(1, 0); first != again {
		t.Error("the same seed and process draw different bytes")
	}
	if draw(1, 0) == draw(2, 0) || draw(1, 0) == draw(1, 1) {
		t.Error("different seeds or processes draw the same bytes")
	}
}
