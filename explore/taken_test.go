package explore

import (
	"testing"

	"github.com/lockbench/lockbench/explore/gate"
)

// TestChanges tells a lock's keys from what is no key of it.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		writes []string
		want   bool
	}{
		{"the key itself", []string{"job-1"}, true},
		{"a key with more in its name", []string{"lock@job-1"}, true},
		{"one of several", []string{"counter", "fence:job-1:next"}, true},
		{"another lock's", []string{"job-2"}, false},
		{"a channel", []string{"\x00channel job-1:released"}, false},
		{"nothing", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := changes(gate.Effect{Writes: c.writes}, "job-1"); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
