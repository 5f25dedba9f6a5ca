package reports

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// acceptances returns the state of each acceptance; those that need action come first.
func (s *summary) acceptances() document.Block {
	l := &document.List{}
	for _, state := range []results.AcceptanceState{results.Expired, results.Stale, results.Accepted} {
		for _, a := range s.result.Acceptances {
			if a.State == state {
				word, tone, more := acceptanceWords(&a)
				l.Items = append(l.Items, document.Item{Word: word, Tone: tone, Name: a.Design + " " + a.Cell.String(), Text: a.Reason + more + " (" + a.Place + ")"})
			}
		}
	}
	return &document.Section{ID: "acceptances", Title: "accepted breaks", Blocks: []document.Block{l}}
}

func acceptanceWords(a *results.Acceptance) (word string, tone document.Tone, more string) {
	switch a.State {
	case results.Expired:
		return "EXPIRED on " + a.Until, document.Bad, "; it no longer counts"
	case results.Stale:
		return "STALE", document.Weak, "; no such claim was broken in this run"
	}
	return "accepted until " + a.Until, document.None, ""
}

// acceptedBreaks returns a line for each run and reason, with the broken claims of the run that are
// accepted for it.
func (s *summary) acceptedBreaks() (all []string) {
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		found := checker.Cells{}
		accepted := map[lockbench.Cell]results.AcceptedBreak{}
		for _, source := range cellSources(run) {
			for cell, f := range source.All() {
				if f.Accepted != nil {
					found[cell], accepted[cell] = f.Finding, *f.Accepted
				}
			}
		}
		by := make(map[results.AcceptedBreak][]lockbench.Cell)
		var reasons []results.AcceptedBreak
		for _, cell := range found.Sorted() {
			reason := accepted[cell]
			if len(by[reason]) == 0 {
				reasons = append(reasons, reason)
			}
			by[reason] = append(by[reason], cell)
		}
		for _, reason := range reasons {
			all = append(all, s.label.Of(run)+" broke "+list(by[reason])+", "+reason.String())
		}
	}
	return all
}
