package reports

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// guard is how the store of the run protected itself, empty for not at all. Its name is
// that of the field of workloads.Options.
func (r *Run) guard() string {
	if g := setting(r.Params, "guard"); g != string(lockbench.NoGuard) {
		return g
	}
	return ""
}

// guards says what guarded stores refused and, where the same design ran without the
// guard too, whether that made the difference.
func (t *terminal) guards() {
	var runs []*Run
	width := 0
	for i := range t.result.Runs {
		if run := &t.result.Runs[i]; run.guard() != "" {
			runs = append(runs, run)
			width = max(width, len(t.label.of(run)))
		}
	}
	if len(runs) > 0 {
		t.printf("\n%s\n", t.bold("guarded stores"))
	}
	for _, run := range runs {
		t.printf("  %-*s  turned away %s of clients that were overtaken; %s\n", width, t.label.of(run),
			accesses(run.Counts.Stale), t.compared(run))
	}
}

func accesses(n int64) string {
	if n == 1 {
		return "1 access"
	}
	return number(n) + " accesses"
}

// alone is the run of the same design and workload without a guard, nil when there is
// none.
func (t *terminal) alone(guarded *Run) *Run {
	for i := range t.result.Runs {
		run := &t.result.Runs[i]
		if run.guard() == "" && run.Design == guarded.Design && run.Workload == guarded.Workload {
			return run
		}
	}
	return nil
}

// compared says what the guard made of the updates, by what was lost where the design ran
// without it too. Whatever the cause: a failover takes updates from a sound lock as well.
func (t *terminal) compared(guarded *Run) string {
	alone := t.alone(guarded)
	lost := plural(guarded.Counts.LostUpdates, "update") + " lost"
	if alone == nil {
		return lost
	}
	safe := guarded.Counts.LostUpdates == 0 && guarded.Cells.Read(lockbench.Effects.At(0)).Verdict == checker.Held
	switch before := alone.Counts.LostUpdates; {
	case before == 0:
		return lost + ", none without it either"
	case safe:
		return "unsafe alone (" + plural(before, "update") + " lost), " + t.good("safe with the guard (none)")
	default:
		return "unsafe alone (" + plural(before, "update") + " lost), not shown safe with the guard (" + lost + ")"
	}
}
