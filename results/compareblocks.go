package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/measure/statistics"
)

// A block has runs of both sides that were made near each other in time.
type block struct{ base, changed []observed }

// blocks divides the runs of a design by starting time into blocks with at least
// [statistics.BlockRuns] runs of either side. Runs after the last whole block join it. There is one
// block if the sides did not take turns, or if a run has no starting time.
func (d *ComparedDesign) blocks() []block {
	type timed struct {
		observed
		changed bool
		at      time.Time
	}
	var all []timed
	for i, o := range slices.Concat(d.base, d.changed) {
		at, err := time.Parse(time.RFC3339, o.run.Started)
		if err != nil {
			return []block{{d.base, d.changed}}
		}
		all = append(all, timed{o, i >= len(d.base), at})
	}
	slices.SortStableFunc(all, func(a, b timed) int { return a.at.Compare(b.at) })
	var blocks []block
	var b block
	for _, o := range all {
		if o.changed {
			b.changed = append(b.changed, o.observed)
		} else {
			b.base = append(b.base, o.observed)
		}
		if min(len(b.base), len(b.changed)) == statistics.BlockRuns {
			blocks, b = append(blocks, b), block{}
		}
	}
	if len(blocks) == 0 {
		return []block{b}
	}
	last := &blocks[len(blocks)-1]
	last.base, last.changed = append(last.base, b.base...), append(last.changed, b.changed...)
	return blocks
}

// worse converts a change for the worse, a factor above one, into a share. For a figure that should
// be low, a factor of two is twice as much and 100% worse; for a figure that should be high, it is
// half as much and 50% worse.
func (m *MetricChange) worse(factor float64) float64 {
	if m.Better == "higher" {
		return 1 - 1/factor
	}
	return factor - 1
}

// factor is the inverse of worse. It returns +Inf if no factor makes the figure worse by so much.
func (m *MetricChange) factor(share float64) float64 {
	switch {
	case m.Better != "higher":
		return 1 + share
	case share >= 1:
		return math.Inf(1)
	}
	return 1 / (1 - share)
}

// noteInsensitive adds a note for each design in which a difference of more than 10% would mostly
// go unseen. It names the main figure with the largest such difference among those that show none.
func (c *Comparison) noteInsensitive() {
	for i := range c.Designs {
		d := &c.Designs[i]
		var blurred []*MetricChange
		for j := range d.Metrics {
			m := &d.Metrics[j]
			if slices.Contains(mains, m.Metric) && m.Change == MetricSame && m.Visible != nil && *m.Visible > 0.1 {
				blurred = append(blurred, m)
			}
		}
		if len(blurred) == 0 {
			continue
		}
		m := slices.MaxFunc(blurred, func(a, b *MetricChange) int { return cmp.Compare(*a.Visible, *b.Visible) })
		c.Notes = append(c.Notes, fmt.Sprintf("%s: with these runs a difference of less than %.0f%% in %s would mostly go unseen; about %d of each would show 10%%",
			d.Label(), 100**m.Visible, m.Metric, m.RunsForTenth))
	}
}
