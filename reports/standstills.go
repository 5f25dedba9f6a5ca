package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// standstills returns the standstills of many runs together, which a brief report leaves out.
func (s *summary) standstills() *document.Section {
	l := &document.List{}
	if still := s.stoodStill(); still != "" {
		l.Items = append(l.Items, document.Item{Word: "stood still", Tone: document.Weak, Text: still})
	}
	return s.inWhole(l)
}

// stoodStill returns a sentence on the standstills of many runs together; empty for short ones, and
// for few runs, which report their own.
func (s *summary) stoodStill() string {
	var sum *results.Standstills
	n := 0
	for i := range s.result.Runs {
		if run := &s.result.Runs[i]; stoodStill(run) != "" {
			n++
			sum = sum.Plus(run.Standstills)
		}
	}
	if n == 0 || !s.crowded() {
		return ""
	}
	return fmt.Sprintf("in %d of %s, for %s in all, the longest %s: it breaks nothing",
		n, figures.Plural(int64(len(s.result.Runs)), s.unit), figures.Compact(sum.TotalNS), figures.Compact(sum.LongestNS))
}

// stoodStill returns a sentence on the standstills of a run; empty for short ones.
func stoodStill(r *results.Run) string {
	much := r.Standstills.Of(r.MeasuredNS)
	if much == "" {
		return ""
	}
	return fmt.Sprintf("lockbench or its server stood still for %s; what that kept from being done breaks nothing", much)
}
