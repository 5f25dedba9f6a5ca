package results

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/lib/figures"
)

// muchStill is the share of a time above which reports mention standstills.
const muchStill = 0.001

// Plus returns the sum of s and other. Either may be nil, for none.
func (s *Standstills) Plus(other *Standstills) *Standstills {
	if s == nil || other == nil {
		if s == nil {
			return other
		}
		return s
	}
	return &Standstills{Times: s.Times + other.Times, TotalNS: s.TotalNS + other.TotalNS, LongestNS: max(s.LongestNS, other.LongestNS)}
}

// Of returns a clause on the standstills within a time of ns nanoseconds; empty if they are 0.1% of
// it or less, and for nil.
func (s *Standstills) Of(ns int64) string {
	if s == nil || float64(s.TotalNS) <= muchStill*float64(ns) {
		return ""
	}
	return fmt.Sprintf("%s in %s, the longest %s", figures.Compact(s.TotalNS), figures.Plural(s.Times, "standstill"), figures.Compact(s.LongestNS))
}
