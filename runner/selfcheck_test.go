package runner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/workloads"
)

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		name     string
		duration time.Duration
		ttl      time.Duration
		want     []time.Duration
	}{
		{"the shortest proof is the run", 4 * time.Second, time.Second, []time.Duration{4 * time.Second}},
		{"doubling up to the run", 20 * time.Second, time.Second, []time.Duration{7500 * time.Millisecond, 15 * time.Second, 20 * time.Second}},
		{"a long run is not proved for as long", 10 * time.Minute, time.Second, []time.Duration{7500 * time.Millisecond, 15 * time.Second, 30 * time.Second, time.Minute}},
		{"leases longer than a proof", 10 * time.Minute, time.Minute, []time.Duration{228750 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := lengths(workloads.Options{Duration: c.duration, TTL: c.ttl})
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("lengths (-got +want):\n%s", diff)
			}
		})
	}
}
