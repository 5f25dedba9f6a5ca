package main

import (
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/thresholds"
)

// figures returns what tells the measures of the run, where check is called.
func (w *watcher) figures() func() *measure.Collector {
	reader := &figureReader{}
	w.also = append(w.also, func(history.Header) onlooker { return reader })
	return func() *measure.Collector { return reader.figures }
}

// figureReader is an onlooker who looks at what the judgement measures.
type figureReader struct{ figures *measure.Collector }

func (*figureReader) Add(history.Event)  {}
func (*figureReader) Finish(history.End) {}

func (r *figureReader) reads(figures *measure.Collector) { r.figures = figures }

// abort has the run of a design end as soon as it is certain to fail one of the
// thresholds that are for it: those on figures that only rise, and that must not.
func (w *watcher) abort(asked []thresholds.Threshold, design string, say func(string, ...any)) {
	certain := slices.DeleteFunc(slices.Clone(asked), func(t thresholds.Threshold) bool {
		return !t.For(design) || !t.CanSettle()
	})
	if len(certain) == 0 {
		return
	}
	w.failed = make(chan struct{})
	figures := w.figures()
	over := false
	w.check = func(c *checker.Checker) {
		if over {
			return
		}
		verdicts := c.SoFar()
		soFar := &thresholds.Run{Design: design, Verdicts: &verdicts, Measures: figures().SoFar()}
		for _, t := range certain {
			if outcome, found := t.Judge(soFar); outcome == thresholds.Failed && !over {
				over = true
				say("%s is certain to fail %s: it is %s", design, t, t.Metric.Unit.Format(found.Value))
				close(w.failed)
			}
		}
	}
}
