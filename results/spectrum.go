package results

import (
	"math"

	"github.com/lockbench/lockbench/internal/measure"
)

// A Spectrum is a cumulative distribution of durations: the share Shares[i], 0 to 1, of them took
// at most NS[i] ns. Like HdrHistogram's percentile files it has more points toward the top. The
// last share is 1, and its duration the longest.
type Spectrum struct {
	Shares []float64 `json:"shares"`
	NS     []int64   `json:"ns"`
}

// newSpectrum returns the distribution of l, nil if l is empty.
func newSpectrum(l *measure.Latency) *Spectrum {
	if l.Count() == 0 {
		return nil
	}
	s := &Spectrum{}
	for _, b := range l.Histogram().CumulativeDistributionWithTicks(hgrmTicks) {
		share := math.Round(b.Quantile*1e7) / 1e9
		if n := len(s.NS); n > 1 && s.NS[n-1] == b.ValueAt && s.NS[n-2] == b.ValueAt {
			s.Shares[n-1] = share // a level needs its two ends only
			continue
		}
		s.Shares, s.NS = append(s.Shares, share), append(s.NS, b.ValueAt)
	}
	return s
}
