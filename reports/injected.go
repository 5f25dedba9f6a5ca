package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// injected returns the number of times that each fault occurred and that it met an operation. A run
// with a fault that met none is inconclusive.
func (s *summary) injected() *document.List {
	l := &document.List{Title: "faults: how often they occurred, and how often they met a held lock or, failing that, an acquire"}
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		for _, f := range run.Injected {
			l.Items = append(l.Items, document.Item{Name: s.label.Of(run), Text: fmt.Sprintf("%s: occurred %s, %s held, %s acquiring%s", f.Fault,
				figures.Number(f.Occurrences), figures.Number(f.MetHeld), figures.Number(f.MetAcquire), remedy(f))})
		}
	}
	return l
}

// remedy returns a hint on how to make a fault meet operations, empty if it met some.
func remedy(f runinfo.FaultExposure) string {
	switch {
	case f.MetHeld+f.MetAcquire > 0:
		return ""
	case f.Occurrences == 0:
		return "; inconclusive: it never occurred: raise --duration or --clients, or have it occur sooner"
	}
	return "; inconclusive: it met no lock: raise --clients, --hold or --duration"
}
