package main

import (
	"iter"

	"github.com/lockbench/lockbench/history"
)

// An onlooker sees every event of a history on its way to those who judge it, and its
// end, in the goroutine that reads it.
type onlooker interface {
	Add(history.Event)
	Finish(history.End)
}

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
