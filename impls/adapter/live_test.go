//go:build unix

package adapter_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// run runs clients of an adapter, each in a process of its own.
func run(t *testing.T, command string, operations int64, faults ...string) (runner.Result, error) {
	t.Helper()
	return runWith(t, command, adapter.Settings{}, operations, faults...)
}

// runWith is run with settings of adapters.
func runWith(t *testing.T, command string, set adapter.Settings, operations int64, faults ...string) (runner.Result, error) {
	t.Helper()
	d, err := adapter.Design(t.Context(), command)
	if err == nil && set != (adapter.Settings{}) {
		d, err = adapter.With(d, set)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := runner.Plan{Subjects: []runner.Subject{{Design: d}}, Workload: workloads.Must("oversell"), Options: workloads.Defaults(), Faults: faults, History: t.TempDir()}
	p.Options.Clients, p.Options.Keys, p.Options.Stallers = 3, 1, 0
	p.Options.TTL, p.Options.Wait, p.Options.Hold = 500*time.Millisecond, 200*time.Millisecond, workloads.Always(time.Millisecond)
	p.Options.Duration, p.Options.Operations = 0, operations
	return runner.Run(t.Context(), p)
}

// TestFaults stops and kills processes, and has replies lost: no claim of a sound lock is broken, every
// fault occurs, and no process is left.
func TestFaults(t *testing.T) {
	pids := t.TempDir()
	t.Setenv(pidsVariable, pids)
	faults := []string{"crash,p=0.02", "pause,p=0.3", "lost-reply,p=0.05", "cut,p=0.05"}
	result, err := run(t, fake(t, "sound"), 150, faults...)
	if err != nil {
		t.Fatal(err)
	}
	one := &result.Runs[0]
	for _, f := range one.Verdicts.Findings {
		if f.Against > 0 {
			t.Errorf("%s: %v, %d times against what is claimed (%v)", f.Cell, f.Verdict, f.Against, f.Counterexample)
		}
	}
	if len(one.End.Trailer.Faults) != len(faults) {
		t.Errorf("%d faults are counted, want %d", len(one.End.Trailer.Faults), len(faults))
	}
	for _, f := range one.End.Trailer.Faults {
		if f.Occurrences == 0 {
			t.Errorf("%s did not occur", f.Fault)
		}
	}
	if one.End.Trailer.Commands == 0 {
		t.Error("no command was counted")
	}
	started, killed := left(t, pids, ""), int64(0)
	for _, pid := range started {
		if runs(t, pid) {
			t.Errorf("process %s still runs", pid)
		}
		if !slices.Contains(left(t, pids, ".stopped"), pid) {
			killed++
		}
	}
	if want := one.End.Trailer.Faults[0].Occurrences; killed != want {
		t.Errorf("%d of %d processes were killed, want %d", killed, len(started), want)
	}
	if len(left(t, pids, ".stood")) == 0 {
		t.Error("no process stood still")
	}
	for _, under := range []lockbench.Conditions{lockbench.Crash, lockbench.LostReply} {
		met := slices.ContainsFunc(one.Verdicts.Findings, func(f checker.CellFinding) bool { return f.Cell.Under.Has(under) && f.Exposure > 0 })
		if !met {
			t.Errorf("%s is not on record", under)
		}
	}
}

// TestTwins runs the twins of a sound adapter: each is caught by its broken claim.
func TestTwins(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for leases")
	}
	for how, operations := range map[string]int64{"grant": 100, "release": 20} {
		result, err := run(t, "LOCKBENCH_BREAK="+how+" "+fake(t, "sound"), operations)
		if err != nil || result.Exit() != results.BrokenClaim {
			t.Errorf("%s: error %v, exit %d; want %d", how, err, result.Exit(), results.BrokenClaim)
		}
	}
}

// TestDiesInTheRun runs adapters that end or write nonsense: the run ends with an error that says so,
// and no verdict is about the lock.
func TestDiesInTheRun(t *testing.T) {
	for fault, want := range map[string]string{
		"dies":   "exited (exit status 139); it said: segmentation fault",
		"prints": `a line of its output, "about to acquire\n"`,
	} {
		result, err := run(t, fake(t, fault), 100)
		if len(result.Runs) > 0 {
			err = errors.Join(err, result.Runs[0].Err)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", fault, err, want)
		}
		if result.Exit() == 0 || result.Exit() == results.BrokenClaim {
			t.Errorf("%s: exit %d", fault, result.Exit())
		}
	}
}

// pidsVariable is a directory in which each process of the fake leaves a file with its number.
const pidsVariable = "LOCKBENCH_FAKE_PIDS"

// leave leaves a file of this process.
func leave(suffix string) {
	if dir := os.Getenv(pidsVariable); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, pid()+suffix), nil, 0o600); err != nil {
			panic(err)
		}
	}
}

// leaveWhenStopped leaves a file of this process when it has stood still for longer than a machine lets it,
// but less than the pauses of TestFaults.
func leaveWhenStopped() {
	const still = 400 * time.Millisecond
	go func() {
		for last := time.Now(); ; last = time.Now() {
			time.Sleep(20 * time.Millisecond)
			if time.Since(last) > still {
				leave(".stood")
			}
		}
	}()
}

// left returns the numbers of the processes that left a file with a suffix.
func left(t *testing.T, dir, suffix string) (pids []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if filepath.Ext(path) == suffix {
			pids = append(pids, strings.TrimSuffix(filepath.Base(path), suffix))
		}
	}
	return pids
}
