package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/internal/results"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// The titles of lists of errors.
const (
	errorsTitle   = "errors: how many calls met them, and the first in the server's own words"
	injectedTitle = "errors that injected faults brought about"
)

// errors lists the errors of all runs, those that injected faults caused apart.
func (s *summary) errors() *document.Section {
	own, injected := &document.List{Title: errorsTitle}, &document.List{Title: injectedTitle}
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		addErrors(own, injected, s.label.Of(run), run.Errors)
	}
	return &document.Section{Blocks: []document.Block{own, injected}}
}

// addErrors adds the errors of one run, with the given name, to the lists.
func addErrors(own, injected *document.List, name string, all []results.Error) {
	for i := range all {
		e, to := &all[i], own
		if e.Injected() {
			to = injected
		}
		to.Items = append(to.Items, document.Item{Name: name, Text: errorText(e)})
	}
}

// errorText describes one kind of errors.
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

// comparedErrors lists the errors of both sides of a comparison.
func comparedErrors(c *results.Comparison) *document.Section {
	own, injected := &document.List{Title: errorsTitle}, &document.List{Title: injectedTitle}
	for i := range c.Designs {
		d := &c.Designs[i]
		addErrors(own, injected, "BASE "+d.Base, d.BaseErrors)
		addErrors(own, injected, "NEW "+d.New, d.NewErrors)
	}
	return &document.Section{Blocks: []document.Block{own, injected}}
}

// trialErrors lists the errors of the trials of a limit.
func trialErrors(l *results.LimitSearch) *document.Section {
	own, injected := &document.List{Title: errorsTitle}, &document.List{Title: injectedTitle}
	for i := range l.Trials {
		addErrors(own, injected, l.At(l.Trials[i].Value), l.Trials[i].Errors)
	}
	return &document.Section{Blocks: []document.Block{own, injected}}
}
