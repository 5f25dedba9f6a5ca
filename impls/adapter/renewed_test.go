//go:build linux

package adapter_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// renewing runs two clients of a fake that renews its leases, or says so. It works for 400 ms each time, twice as long as a
// short lease lasts.
func renewing(t *testing.T, fault string, set adapter.Settings, lease time.Duration) runner.Result {
	t.Helper()
	d, err := adapter.Design(t.Context(), fake(t, fault))
	if err == nil {
		d, err = adapter.With(d, set)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := runner.Plan{Subjects: []runner.Subject{{Design: d}}, Workload: workloads.Must("oversell"), Options: workloads.Defaults(), History: t.TempDir()}
	p.Options.Clients, p.Options.Keys, p.Options.Stallers = 2, 1, 0
	p.Options.TTL, p.Options.Wait, p.Options.Hold = lease, time.Second, workloads.Always(400*time.Millisecond)
	p.Options.Duration, p.Options.Operations = 0, 4
	result, err := runner.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// renewals returns the number of renewals in a history that were answered ok, and whether others may be missing.
func renewals(t *testing.T, file string) (ok int, unseen bool) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	source, err := history.NewSource(in)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range source.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Phase == history.Return && e.Op.Kind == history.Renew && e.Op.Outcome == history.OK {
			ok++
		}
	}
	return ok, source.Header().RenewsUnseen
}

const (
	shortLease = 200 * time.Millisecond
	longLease  = time.Minute // that does not end, however slow the machine is
)

// TestRenewed runs locks that say that they renew their leases. With their own stamps the renewals are on record,
// and those that did not happen break a claim that nothing else breaks; without, they are as unseen.
func TestRenewed(t *testing.T) {
	for _, tt := range []struct {
		fault    string
		set      adapter.Settings
		lease    time.Duration
		recorded bool
		broken   bool
	}{
		{"renews", adapter.Settings{Stamps: true}, longLease, true, false},
		{"renews", adapter.Settings{}, longLease, false, false},
		{"renews without a stamp", adapter.Settings{Stamps: true}, longLease, false, false},
		{"renews in words", adapter.Settings{Stamps: true}, shortLease, true, true},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			result := renewing(t, tt.fault, tt.set, tt.lease)
			one := &result.Runs[0]
			ok, unseen := renewals(t, one.History)
			if ok > 0 != tt.recorded || unseen == tt.set.Stamps {
				t.Errorf("%d renewals are on record, others may be missing: %v", ok, unseen)
			}
			lease, judged, against := false, false, int64(0)
			for _, f := range one.Verdicts.Findings {
				judged = judged || f.Cell == lockbench.Exclusion.At(0) && f.Verdict != checker.Untested
				lease = lease || f.Cell == lockbench.LeaseKept.At(0) && f.Against > 0
				against += f.Against
			}
			if !judged || lease != tt.broken || (against > 0) != tt.broken {
				t.Errorf("judged: %v, lease broken: %v, %d times against what is claimed, want %v; %+v", judged, lease, against, tt.broken, one.Verdicts.Findings)
			}
		})
	}
}

// TestRenewsUnseen: a lock renews without a record unless it tells it, with stamps, and cannot be left with levels
// that nobody holds.
func TestRenewsUnseen(t *testing.T) {
	for _, tt := range []struct {
		fault  string
		stamps bool
		want   bool
	}{{"renews", true, false}, {"renews", false, true}, {"renews levels", true, true}, {"sound", true, false}} {
		d, err := adapter.Design(t.Context(), fake(t, tt.fault))
		if err == nil {
			d, err = adapter.With(d, adapter.Settings{Stamps: tt.stamps})
		}
		if err != nil {
			t.Fatal(err)
		}
		if d.RenewsUnseen != tt.want {
			t.Errorf("%s, with stamps %v: renews unseen %v, want %v", tt.fault, tt.stamps, d.RenewsUnseen, tt.want)
		}
	}
}

// TestLyingRenewals: a report whose time cannot be ends the run with an error that names it, and no verdict is
// about the lock. By the driver's clock it does not count.
func TestLyingRenewals(t *testing.T) {
	for _, fault := range []string{"renews before it held", "renews in the future"} {
		one := renewing(t, fault, adapter.Settings{Stamps: true}, longLease).Runs[0]
		if one.Err == nil || !strings.Contains(one.Err.Error(), "is no time between the call of the acquire and the reading of the report") || !strings.Contains(one.Err.Error(), "attempt_ns") {
			t.Errorf("%s: error %v", fault, one.Err)
		}
		for _, f := range one.Verdicts.Findings {
			if f.Against > 0 {
				t.Errorf("%s: %s: %d against the lock", fault, f.Cell, f.Against)
			}
		}
		if result := renewing(t, fault, adapter.Settings{}, longLease); result.Runs[0].Err != nil {
			t.Errorf("%s by the driver's clock: %v", fault, result.Runs[0].Err)
		}
	}
}

// renewingProgram is an adapter that renews a hold as it releases it, and is told that it is lost.
const renewingProgram = `
from lockbench_adapter import Lock, NotHeld, serve

class Renewing(Lock):
    name, hello = "renewing", {"renews": "told"}

    def acquire(self, key, ttl):
        return [key]

    def release(self, hold):
        with self.renewing(hold, 30):
            pass
        try:
            with self.renewing(hold, 20):
                raise SystemExit  # such as a task that is cancelled
        except SystemExit:
            pass
        with self.renewing(hold, 10):
            raise NotHeld("gone")

serve(Renewing)
`

// TestPythonKitTellsRenewals: a lock in Python tells of its renewals by the context of the kit.
func TestPythonKitTellsRenewals(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil && os.Getenv("LOCKBENCH_REQUIRE_SERVERS") != "1" {
		t.Skip("no python3")
	}
	file := filepath.Join(t.TempDir(), "renewing.py")
	if err := os.WriteFile(file, []byte(renewingProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := opened(t, "PYTHONPATH=../../adapters/python exec python3 -B "+file, adapter.Settings{Stamps: true})
	if err != nil {
		t.Fatal(err)
	}
	ops := record(t, p, func(l lockbench.Locker) {
		lease, err := l.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("release: error %v", err)
		}
	})
	var got []string
	for _, op := range ops {
		got = append(got, fmt.Sprint(op.Kind, " ", op.Outcome, " ", time.Duration(op.Granted)))
		if op.Kind == history.Renew && (op.Hold != ops[0].Hold || op.Call < ops[1].Call || op.Call > op.Return) {
			t.Errorf("%+v is not of the hold %d, within the release from %d to %d", op, ops[0].Hold, ops[1].Call, ops[1].Return)
		}
	}
	want := []string{"acquire ok 1m0s", "release lost 0s", "renew ok 30s", "renew unknown 20s", "renew lost 0s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
