package results

import (
	"math"

	"github.com/lockbench/lockbench/internal/measure"
)

// A Spectrum is a distribution as a curve, as fine towards its top as HdrHistogram's
// percentile files: what share of the durations was not longer than so many ns. The last
// share is 1, and its duration the longest.
type Spectrum struct {
	Shares []float64 `json:"shares"`
	NS     []int64   `json:"ns"`
}

// newSpectrum is nil when nothing was measured.
func newSpectrum(l *measure.Latency) *Spectrum {
	if l.Count() == 0 {
		return nil
	}
	s := &Spectrum{}
	for _, b := range l.Histogram().CumulativeDistributionWithTicks(hgrmTicks) {
		share := math.Round(b.Quantile*1e7) / 1e9
		if n := len(s.NS); n > 1 && s.NS[n-1] == b.ValueAt && s.NS[n-2] == b.ValueAt {
			s.Shares[n-1] = share // on a level, its two ends are all there is to see
			continue
		}
		s.Shares, s.NS = append(s.Shares, share), append(s.NS, b.ValueAt)
	}
	return s
}
