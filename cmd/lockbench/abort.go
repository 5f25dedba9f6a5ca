package main

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/gates"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/measure"
)

// figuresSoFar measure a run for those who want to know before it is over.
type figuresSoFar struct{ *measure.Collector }

// Finish implements [onlooker].
func (figuresSoFar) Finish(history.End) {}

// abort has the run of a design end as soon as it is certain to fail one of the
// thresholds that are for it: those on figures that only rise, and that must not.
func (w *watcher) abort(thresholds []gates.Threshold, design string, say func(string, ...any)) {
	certain := slices.DeleteFunc(slices.Clone(thresholds), func(t gates.Threshold) bool {
		return !t.For(design) || !t.CanSettle()
	})
	if len(certain) == 0 {
		return
	}
	var figures *measure.Collector
	w.failed = make(chan struct{})
	w.also = append(w.also, func(h history.Header) onlooker {
		figures = measure.New(h)
		return figuresSoFar{figures}
	})
	over := false
	w.check = func(c *checker.Checker) {
		if over {
			return
		}
		verdicts := c.SoFar()
		soFar := &gates.Run{Design: design, Verdicts: &verdicts, Measures: figures.SoFar()}
		for _, t := range certain {
			if outcome, found := t.Judge(soFar); outcome == gates.Failed && !over {
				over = true
				say("%s is certain to fail %s: it is %s", design, t, t.Metric.Unit.Format(found.Value))
				close(w.failed)
			}
		}
	}
}
