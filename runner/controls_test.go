package runner

import (
	"testing"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/workloads"
)

// TestControlsStandWhereTheLocksDo checks which controls a plan gets, and on which service.
func TestControlsStandWhereTheLocksDo(t *testing.T) {
	for _, tt := range []struct {
		locks    []string
		controls int
		on       string // empty for Redis
	}{
		{[]string{"lua-token/token"}, 2, ""},
		{[]string{"nats/kv", "nats/kv-delete"}, 1, "nats"},
		{[]string{"nats/kv", "lua-token/token"}, 2, ""},
		{[]string{"file/flock"}, 2, ""},
	} {
		locks, err := impls.Match(tt.locks...)
		if err != nil {
			t.Fatal(err)
		}
		p := Plan{Workload: workloads.Must("oversell")}
		for _, d := range locks {
			p.Subjects = append(p.Subjects, Subject{Design: d})
		}
		p.AddControls(impls.Controls())
		p.PlaceControls()
		if n := len(p.Subjects) - len(locks); n != tt.controls {
			t.Errorf("%v: %d controls, want %d", tt.locks, n, tt.controls)
		}
		for _, s := range p.Subjects {
			on := ""
			if s.Design.Backend != nil {
				on = s.Design.Backend.Name()
			}
			if s.Design.Control == design.NoLock && on != tt.on {
				t.Errorf("%v: work without a lock is on %q, want %q", tt.locks, on, tt.on)
			}
		}
	}
}
