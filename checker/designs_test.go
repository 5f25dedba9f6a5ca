package checker_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/load"
	"github.com/lockbench/lockbench/servers"
	"github.com/lockbench/lockbench/workloads"
)

// TestParallelSaysTheSameOfDesigns judges histories of short runs of the documented
// designs, side by side and by one checker.
func TestParallelSaysTheSameOfDesigns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every design")
	}
	for _, d := range impls.Documented() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			saved := ran(t, d)
			want, err := checker.Check(source(t, saved))
			if err != nil {
				t.Fatal(err)
			}
			if want.Grants == 0 {
				t.Error("nothing was granted")
			}
			src := source(t, saved)
			p := checker.NewParallel(src.Header(), 3)
			for ev, err := range src.Events() {
				if err != nil {
					t.Fatal(err)
				}
				p.Add(ev)
			}
			got := p.Finish(src.End())
			got.CrossChecked, want.CrossChecked = 0, 0 // porcupine has a time limit
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("verdicts (-parallel +sequential):\n%s", diff)
			}
		})
	}
}

// short is a lease that is often outlived.
const short = 10 * time.Millisecond

// ran is the history of a short run of d, with short leases where it can have them.
func ran(t *testing.T, d design.Design) []byte {
	hold, err := workloads.ParseDistribution("exp:10ms")
	if err != nil {
		t.Fatal(err)
	}
	server, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	o := workloads.Defaults()
	o.Clients, o.Keys, o.SlowKeys, o.Warmup, o.Duration = 12, 6, 0, 0, 300*time.Millisecond
	o.Wait, o.TTL = 10*time.Millisecond, time.Second
	if d.Granted != nil && d.Granted(short) == short {
		o.TTL = short
	}
	o.Hold, o.Think = hold, workloads.Always(time.Millisecond)
	var saved bytes.Buffer
	_, err = load.Run(t.Context(), load.Config{Design: d, Server: server, Workload: workloads.Mutex(), Options: o, History: &saved})
	if err != nil {
		t.Fatal(err)
	}
	return saved.Bytes()
}

func source(t *testing.T, saved []byte) history.Source {
	t.Helper()
	src, err := history.NewSource(bytes.NewReader(saved))
	if err != nil {
		t.Fatal(err)
	}
	return src
}
