package reports

import (
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// guards returns the writes that guarded stores refused and, if the same design ran without a guard
// too, whether the guard made a difference.
func (s *summary) guards() *document.List {
	l := &document.List{Title: "guarded stores"}
	for i := range s.result.Runs {
		if run := &s.result.Runs[i]; run.Guard() != "" {
			l.Items = append(l.Items, document.Item{Name: s.label.Of(run),
				Text: fmt.Sprintf("turned away %s of clients that were overtaken; %s", accesses(run.Counts.Stale), s.compared(run))})
		}
	}
	return l
}

func accesses(n int64) string {
	if n == 1 {
		return "1 access"
	}
	return figures.Number(n) + " accesses"
}

// withoutGuard returns the run of the same design, workload and point without a guard, nil if there
// is none.
func (s *summary) withoutGuard(guarded *results.Run) *results.Run {
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		if run.Guard() == "" && run.Design == guarded.Design && run.Workload == guarded.Workload && s.label.Point(run) == s.label.Point(guarded) {
			return run
		}
	}
	return nil
}

// compared returns a phrase on the effect of the guard: the updates lost with it and, if there is
// such a run, without it. The cause does not matter: a failover loses updates of a sound lock, too.
func (s *summary) compared(guarded *results.Run) string {
	alone := s.withoutGuard(guarded)
	lost := figures.Plural(guarded.Counts.LostUpdates, "update") + " lost"
	if alone == nil {
		return lost
	}
	safe := guarded.Counts.LostUpdates == 0 && guarded.Cells.Touched(lockbench.Effects.At(0)).Verdict == checker.Held
	switch before := alone.Counts.LostUpdates; {
	case before == 0:
		return lost + ", none without it either"
	case safe:
		return "unsafe alone (" + figures.Plural(before, "update") + " lost), " + "safe with the guard (none)"
	default:
		return "unsafe alone (" + figures.Plural(before, "update") + " lost), not shown safe with the guard (" + lost + ")"
	}
}
