package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// The titles of lists of errors.
const (
	errorsTitle   = "errors: how many calls met them, and the first in the server's own words"
	injectedTitle = "errors that injected faults brought about"
)

// errors returns the errors of all runs, with those that injected faults caused in a list of their
// own.
func (s *summary) errors() *document.Section {
	own, injected := &document.List{Title: errorsTitle}, &document.List{Title: injectedTitle}
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		addErrors(own, injected, s.label.Of(run), run.Errors)
	}
	return &document.Section{Blocks: []document.Block{own, injected}}
}

// addErrors adds the errors of the run with this name to the lists.
func addErrors(own, injected *document.List, name string, all []results.Error) {
	for i := range all {
		e, to := &all[i], own
		if e.Injected() {
			to = injected
		}
		to.Items = append(to.Items, document.Item{Name: name, Text: errorText(e)})
	}
}

// errorText returns a line on one kind of error.
func errorText(e *results.Error) string {
	text := fmt.Sprintf("%s of %s calls, first at %s", figures.Number(e.Count), figures.Number(e.Of), figures.Moment(e.AtNS))
	what := e.Kind
	if e.Op != "" {
		what = e.Op + " " + e.Kind
	}
	if e.Injected() {
		what += " by " + e.Fault
	}
	if e.First != "" {
		text += ": " + e.First
	}
	return what + ": " + text
}

// comparedErrors returns the errors of both sides of a comparison.
func comparedErrors(c *results.Comparison) *document.Section {
	own, injected := &document.List{Title: errorsTitle}, &document.List{Title: injectedTitle}
	for i := range c.Designs {
		d := &c.Designs[i]
		addErrors(own, injected, "BASE "+d.Base, d.BaseErrors)
		addErrors(own, injected, "NEW "+d.New, d.NewErrors)
	}
	return &document.Section{Blocks: []document.Block{own, injected}}
}

// trialErrors returns the errors of the trials of a search for a limit.
func trialErrors(l *results.LimitSearch) *document.Section {
	own, injected := &document.List{Title: errorsTitle}, &document.List{Title: injectedTitle}
	for i := range l.Trials {
		addErrors(own, injected, l.At(l.Trials[i].Value), l.Trials[i].Run.Errors)
	}
	return &document.Section{Blocks: []document.Block{own, injected}}
}
