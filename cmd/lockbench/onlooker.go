package main

import (
	"iter"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
)

// An onlooker sees every event of a history on its way to those who judge it, and its
// end, in the goroutine that reads it.
type onlooker interface {
	Add(history.Event)
	Finish(history.End)
}

// A measureReader is an onlooker who is shown what the judgement measures, before there is
// anything in it. It may be read where [watcher.check] is called, and nowhere else.
type measureReader interface{ reads(*measure.Collector) }

// onlooking returns the onlooker for the history that a header opens.
type onlooking func(history.Header) onlooker

// watched is src with onlookers.
func watched(src history.Source, all []onlooking) history.Source {
	if len(all) == 0 {
		return src
	}
	w := watchedSource{Source: src}
	for _, begin := range all {
		w.onlookers = append(w.onlookers, begin(src.Header()))
	}
	return w
}

type watchedSource struct {
	history.Source
	onlookers []onlooker
}

// show hands the measures to those onlookers who read them.
func (w watchedSource) show(figures *measure.Collector) {
	for _, o := range w.onlookers {
		if r, reads := o.(measureReader); reads {
			r.reads(figures)
		}
	}
}

// Events implements [history.Source].
func (w watchedSource) Events() iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		for ev, err := range w.Source.Events() {
			if err == nil {
				for _, o := range w.onlookers {
					o.Add(ev)
				}
			}
			if !yield(ev, err) {
				break
			}
		}
		for _, o := range w.onlookers {
			o.Finish(w.Source.End())
		}
	}
}
