package exporter

import (
	"cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
)

// Sink returns the sink that shows a session while it lasts.
func (e *Exporter) Sink() runner.Sink {
	var seen Subject
	var run *Run // the run begun last; nil until its history has a header
	return runner.Sink{
		Planned: e.Plan,
		Begin: func(of runner.Subject, progress func() runner.Progress) {
			run = nil
			seen = Subject{
				Design: of.Design.Name, Guard: string(cmp.Or(of.Guard, lockbench.NoGuard)),
				Progress: func() (float64, bool) { return progress().Share() },
			}
		},
		Opened: func(h history.Header) {
			seen.Workload = h.Workload
			seen.Clients, seen.Keys = results.Setting(h.Params, "clients"), results.Setting(h.Params, "keys")
			run = e.Begin(seen, h)
		},
		Event: func(ev history.Event) { run.Add(ev) },
		SoFar: func(so runner.Snapshot) { run.Judge(so.Verdicts().Findings) },
		End: func(j *results.Judged) {
			if run != nil {
				run.Settle(j.Measures.Business)
				run.Over(j.Verdicts.Findings)
			}
		},
	}
}
