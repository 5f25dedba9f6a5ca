package load

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// stalled runs d for 300 ms, with leases of a second and so many stallers, in virtual time.
func stalled(t *testing.T, d design.Design, stallers int) (s Summary, record []byte, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var buffer bytes.Buffer
		start := time.Now()
		var err error
		s, err = Run(t.Context(), Config{
			Design: d, Services: backend.Group{embedded(t)}, Workload: workloads.Must("oversell"), History: &buffer,
			Options: options(func(o *workloads.Options) { o.Stallers = stallers }),
		})
		if err != nil {
			t.Error(err)
		}
		took, record = time.Since(start), buffer.Bytes()
		time.Sleep(2 * time.Second) // connections that were given up are closed by then
	})
	return s, record, took
}

// TestStallersAreJudged: even in a run that is shorter than a lease some holds outlive
// theirs, and a late release is caught.
func TestStallersAreJudged(t *testing.T) {
	for _, c := range []struct {
		design design.Design
		freed  bool // by a past owner's command
	}{{tokenDesign(), false}, {plainDesign(), true}} {
		t.Run(c.design.Name, func(t *testing.T) {
			s, record, took := stalled(t, c.design, 4)
			if s.Ended != EndedDuration || took < 1250*time.Millisecond {
				t.Errorf("ended %q after %v, want duration, and no staller cut short", s.Ended, took)
			}
			h, r, _ := judge(t, record)
			if h.Clients != 4 || h.Stallers != 4 {
				t.Errorf("the header has %d clients and %d stallers, want 4 and 4", h.Clients, h.Stallers)
			}
			late := r.Find(lockbench.OwnerRelease.At(lockbench.Outlived)).Violations + r.Find(lockbench.LeaseKept.At(lockbench.Outlived)).Violations
			if (late > 0) != c.freed {
				t.Errorf("what past owners sent freed the key of the next %d times, want any: %t", late, c.freed)
			}
			if got := r.Find(lockbench.Exclusion.At(lockbench.Outlived)); got.Violations == 0 {
				t.Error("no hold that outlived its lease met another")
			}
			if got := r.Find(lockbench.Effects.At(lockbench.Outlived)); got.Violations == 0 {
				t.Error("no update was lost to a hold that outlived its lease")
			}
		})
	}
}

// TestStallersAreNotMeasured compares a run with stallers to one without: the measures are of
// the other clients, over the same time.
func TestStallersAreNotMeasured(t *testing.T) {
	_, record, _ := stalled(t, tokenDesign(), 8)
	src, err := history.NewSource(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	m := measure.New(src.Header())
	var measured, stalls int64
	for ev, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		m.Add(ev)
		if op := ev.Op; ev.Phase == history.Return && op.Kind == history.Acquire && op.Outcome == history.OK {
			if op.Client < 4 {
				measured++
			} else {
				stalls++
			}
		}
	}
	got := m.Result(src.End())
	if all := got.Warmup.Grants + got.Measured.Grants; all != measured || stalls == 0 {
		t.Errorf("%d grants are measured; %d clients' and %d stallers' are on record", all, measured, stalls)
	}
	if got.Span > 600*time.Millisecond {
		t.Errorf("measured over %v, want about 300ms", got.Span)
	}
	if got := measured * 4; src.End().Trailer.Commands > got {
		t.Errorf("%d commands for %d grants, want those of stallers left out", src.End().Trailer.Commands, measured)
	}
}
