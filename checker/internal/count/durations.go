package count

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Durations is a distribution of durations from 1 ns to a day. Its zero value is empty.
type Durations struct{ h *hdrhistogram.Histogram }

// Add adds a duration.
func (s *Durations) Add(ns int64) {
	const most = int64(24 * time.Hour)
	if s.h == nil {
		s.h = hdrhistogram.New(1, most, 3)
	}
	_ = s.h.RecordValue(min(max(ns, 1), most))
}

// Absorb adds the durations of o, and may take over its memory.
func (s *Durations) Absorb(o Durations) {
	switch {
	case o.h == nil:
	case s.h == nil:
		s.h = o.h
	default:
		s.h.Merge(o.h)
	}
}

// Figures returns count and percentiles under names that begin with name; nil if there are none.
func (s *Durations) Figures(name string) map[string]float64 {
	if s.h == nil {
		return nil
	}
	return map[string]float64{
		name + "_count":  float64(s.h.TotalCount()),
		name + "_p50_ns": float64(s.h.ValueAtQuantile(50)),
		name + "_p99_ns": float64(s.h.ValueAtQuantile(99)),
		name + "_max_ns": float64(s.h.Max()),
	}
}
