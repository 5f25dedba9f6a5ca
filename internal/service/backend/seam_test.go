package backend_test

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/testkit/runtest"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// TestMain makes this program the service if the environment says so.
func TestMain(m *testing.M) {
	addr := os.Getenv(serves)
	if addr == "" {
		os.Exit(m.Run())
	}
	_ = os.Remove(addr) // left by a killed service
	l, err := net.Listen("unix", addr)
	if err == nil {
		fmt.Println("listens")
		err = lockServer(l)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestAnotherService runs locks on a service other than Redis, which runner, load and faults
// do not know, until the wanted finding appears.
func TestAnotherService(t *testing.T) {
	for _, c := range []struct {
		name     string
		compares bool
		faults   []string
		breaks   lockbench.Cell // zero is no claimed cell
		end      string         // the run ends with it, as a condition of --fail-if
	}{
		{"sound", true, nil, lockbench.Cell{}, ""},
		{"sound under faults of clients", true, []string{"lost-reply,p=0.02", "cut,p=0.02", "cancel,p=0.03", "crash,p=0.02", "pause,p=0.1"}, lockbench.Cell{}, ""},
		{"frees the key of anybody", false, nil, lockbench.OwnerRelease.At(lockbench.Outlived), "owner-release@outlived.violations>0"},
		{"restarted", true, []string{"restart,at=100ms,every=300ms"}, lockbench.Exclusion.At(lockbench.StateLoss), "exclusion@state-loss.violations>0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := workloads.Defaults()
			o.Clients, o.Keys, o.Slow, o.TTL, o.Wait = 8, 4, 0.25, 100*time.Millisecond, 20*time.Millisecond
			o.Hold, o.Warmup, o.Seed = workloads.Always(2*time.Millisecond), 0, 1
			p := runner.Plan{
				Subjects: []runner.Subject{{Design: remoteLock("remote/token", c.compares)}},
				Workload: workloads.Must("oversell"), Options: o, Faults: c.faults, History: t.TempDir(),
			}
			if p.Options.Operations = 500; c.end != "" {
				p.Options.Operations, p.Options.Duration, p.AbortOn = 0, time.Hour, []string{c.end}
			}
			j := runtest.Run(t, p)
			for _, f := range j.End.Trailer.Faults {
				if f.Occurrences == 0 {
					t.Errorf("fault %s never occurred: this shows nothing", f.Fault)
				}
			}
			found := false
			for _, f := range j.Verdicts.Findings {
				if f.Against > 0 && c.compares {
					t.Errorf("%s: %s", f.Cell, f.Counterexample.Sentence)
				}
				found = found || f.Verdict == checker.Broken && f.Cell.Guarantee == c.breaks.Guarantee && f.Cell.Under.Has(c.breaks.Under)
			}
			if c.breaks.Guarantee != "" && !found {
				t.Errorf("nothing broke %s; the run ended: %s, notes %v", c.breaks, j.End.Trailer.Ended, j.Notes)
			}
		})
	}
}
