package load

import (
	"runtime"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/workloads"
)

// TestOwners: the clients of a design with a bound on the owners of a process are divided among enough
// processes, few of them if several owners fit into one.
func TestOwners(t *testing.T) {
	few := max(2, runtime.NumCPU())
	for _, tt := range []struct {
		owners, clients, processes int
		want                       int
		refused                    string
	}{
		{0, 200, 0, 200, ""},
		{1, 200, 0, 200, ""},
		{64, 1, 0, 1, ""},
		{200, 200, 0, min(200, few), ""},
		{1, 200, 100, 0, "a process of it has at most 1 owners, and 100 processes would have 2 each"},
		{64, 640, 3, 0, "would have 214 each; hint: "},
		{64, 640, 10, 10, ""},
	} {
		d := tokenDesign()
		d.Owners = tt.owners
		with := workloads.Defaults()
		with.Clients, with.Processes = tt.clients, tt.processes
		o, err := Config{Design: d, Services: make(backend.Group, 1), Workload: workloads.Must("mutex"), Options: with}.options()
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%+v: error %v", tt, err)
			}
			continue
		}
		if err != nil || o.Processes != tt.want {
			t.Errorf("%+v: %d processes, error %v", tt, o.Processes, err)
		}
	}
}
