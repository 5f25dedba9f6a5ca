package results

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCompareBlocks checks that only runs made near each other in time are compared if the sides
// took turns.
func TestCompareBlocks(t *testing.T) {
	for _, c := range []struct {
		name, order string // runs of BASE (b) and NEW (n) in the order of their start; ? has no starting time
		want        string // the same runs by block, the runs of BASE first
	}{
		{"in turns", "bnnbbnnbbnnbbnnb", "bbbbnnnn bbbbnnnn"},
		{"the rest goes with the last", "bnnbbnnbbnnbbnnbbnnb", "bbbbnnnn bbbbbbnnnnnn"},
		{"too few for two", "bnnbbnnbbnnb", "bbbbbbnnnnnn"},
		{"one after the other", "bbbbbbbbnnnnnnnn", "bbbbbbbbnnnnnnnn"},
		{"by halves", "bbbbnnnnnnnnbbbb", "bbbbnnnn bbbbnnnn"},
		{"of one the time is not known", "?nnbbnnbbnnbbnnb", "bbbbbbbbnnnnnnnn"},
		{"one side", "bbbb", "bbbb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d ComparedDesign
			for i, side := range c.order {
				o := observed{run: &Run{RunSettings: RunSettings{Started: time.Date(2026, 11, 2, 10, i, 0, 0, time.UTC).Format(time.RFC3339Nano)}}}
				switch side {
				case 'n':
					d.changed = append(d.changed, o)
				case '?':
					o.run.Started = ""
					fallthrough
				default:
					d.base = append(d.base, o)
				}
			}
			var got []string
			for _, b := range d.blocks() {
				got = append(got, strings.Repeat("b", len(b.base))+strings.Repeat("n", len(b.changed)))
			}
			if diff := cmp.Diff(strings.Join(got, " "), c.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}
