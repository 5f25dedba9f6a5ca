package results

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/figures"
)

// muchStill is the share of a time from which on it is said that nobody could do anything.
const muchStill = 0.001

// Plus returns the standstills of both; s and other may be nil, which is none.
func (s *Standstills) Plus(other *Standstills) *Standstills {
	if s == nil || other == nil {
		if s == nil {
			return other
		}
		return s
	}
	return &Standstills{Times: s.Times + other.Times, TotalNS: s.TotalNS + other.TotalNS, LongestNS: max(s.LongestNS, other.LongestNS)}
}

// Of says how much there was of them within so many ns; empty for little, and for nil.
func (s *Standstills) Of(ns int64) string {
	if s == nil || float64(s.TotalNS) <= muchStill*float64(ns) {
		return ""
	}
	return fmt.Sprintf("%s in %s, the longest %s", figures.Compact(s.TotalNS), figures.Plural(s.Times, "standstill"), figures.Compact(s.LongestNS))
}
