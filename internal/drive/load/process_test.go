package load

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// TestHosts checks that a process which replaces a dead one has its host, and another id, and that
// no two processes live on one host.
func TestHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := slowly(tokenDesign())
		inner := d.Open
		var mu sync.Mutex
		ids := map[string][]int{}
		d.Open = func(env design.Environment) (design.Process, error) {
			mu.Lock()
			defer mu.Unlock()
			ids[env.Host] = append(ids[env.Host], env.PID)
			return inner(env)
		}
		var record bytes.Buffer
		o := options(func(o *workloads.Options) { o.Processes = 3 })
		if _, err := Run(t.Context(), Config{
			clock: sleeper{}, Design: d, Services: backend.Group{embedded(t)}, Workload: workloads.Must("mutex"), History: &record,
			Options: o, Faults: []fault.Fault{mustParse(t, "crash,p=0.02")},
		}); err != nil {
			t.Fatal(err)
		}
		seen, replaced := map[int]bool{}, false
		for host, pids := range ids {
			replaced = replaced || len(pids) > 1
			for _, pid := range pids {
				if seen[pid] {
					t.Errorf("%s: process id %d twice", host, pid)
				}
				seen[pid] = true
			}
		}
		if len(ids) != 3 || !replaced {
			t.Errorf("got the processes %v; want three hosts, and a process that was replaced", ids)
		}
	})
}
