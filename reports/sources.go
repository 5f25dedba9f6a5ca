package reports

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// A cellSource holds the findings of one source on the cells of a run.
type cellSource struct {
	name conclusion.Source
	results.Cells
	explored bool
	// missing is the reason why the source has no findings. extent is the number of grants or
	// schedules that they are based on, in words.
	missing, extent string
}

// cellSources returns the sources of findings on a run, its own first.
func cellSources(run *results.Run) []cellSource {
	own := cellSource{name: conclusion.Seen, Cells: run.Cells, extent: figures.Plural(run.Counts.Grants, "grant")}
	if x := run.Exploration; x != nil {
		own.name, own.explored, own.extent = conclusion.Explored, true, figures.Plural(x.Schedules, "schedule")
	}
	all := []cellSource{own}
	if s := run.Search; s != nil && !own.explored {
		all = append(all, cellSource{name: conclusion.Explored, Cells: s.Parts.Together(false), explored: true, missing: s.NotDone, extent: figures.Plural(s.Parts.Schedules(), "schedule")})
	}
	if k := run.Known; k != nil {
		all = append(all, cellSource{name: conclusion.Known, Cells: k.Parts.Together(false), missing: k.Missing, extent: figures.Plural(int64(len(k.Parts)), "part") + " of the released matrix"})
	}
	return all
}

// text returns a line on the findings of a source on all cells.
func (s *cellSource) text() string {
	if s.missing != "" {
		return "nothing: " + s.missing
	}
	var broken []string
	for _, cell := range s.Broken() {
		broken = append(broken, cell.String())
	}
	if len(broken) > 0 {
		return s.extent + "; broke " + shortly(broken)
	}
	return s.extent + "; broke nothing"
}

// sourced returns the cells that become test cases: the cells of the run itself, and the cells that
// another source found broken under one condition at most or against a claim.
func sourced(run *results.Run) checker.Cells {
	all := make(checker.Cells)
	for i, s := range cellSources(run) {
		for cell, f := range s.Cells.Cells {
			if i == 0 || f.Verdict == checker.Broken && (cell.Under.Count() <= 1 || f.Against > 0) {
				all[cell] = f
			}
		}
	}
	return all
}

// addSources adds the finding of each source to the test case of a cell. A cell that only another
// source found broken is not green; it fails if the violation counts against a claim.
func addSources(found *document.Case, run *results.Run, cell lockbench.Cell) {
	word := wordNone
	var names []string
	for i, s := range cellSources(run) {
		f := shownFinding(s.Cells, cell)
		its, text := strengthOf(f, s.explored)
		if text != "" {
			found.Sources = append(found.Sources, [2]string{string(s.name), text})
		}
		if strengthRank[its] > strengthRank[word] {
			word, found.Strength, found.Occasions = its, its, f.Exposure
		}
		if f.Verdict != checker.Broken {
			continue
		}
		if i > 0 && len(names) == 0 {
			overrule(found, run, cell, &s)
		}
		names = append(names, string(s.name))
	}
	if len(names) > 0 {
		found.Message += " (" + strings.Join(names, ", ") + ")"
	}
	if run.Conclusion != nil {
		found.Sources = append(found.Sources, [2]string{"conclusion of the design", string(run.Conclusion.Word)})
	}
}

// overrule replaces the state of a test case by the breach of another source, unless the cell makes
// the run inconclusive.
func overrule(found *document.Case, run *results.Run, cell lockbench.Cell, s *cellSource) {
	f := s.At(cell)
	reason := results.Reason(&run.Claims, cell)
	switch {
	case f.Accepted != nil:
		reason = f.Accepted.String()
	case reason != "" || f.Fails():
	case s.name == conclusion.Known:
		reason = "it is known, and this run did not see it"
	default:
		reason = excused
	}
	state, message := stateOf(f, false, reason, run.AssumedClaims)
	if found.State == document.Erred && state != document.Failed {
		found.Message += "; " + message
		return
	}
	found.State, found.Message, found.Broken = state, message, state == document.Failed
	g := &gallery{}
	found.Evidence = []document.Block{g.section(&judgement{cell, f, reason, run.AssumedClaims})}
	if command := s.again(run, cell); command != "" {
		found.Evidence = append(found.Evidence, again("to see it:", command))
	}
}

// again returns the command that reproduces the finding of a source on a cell, empty for the run
// itself.
func (s *cellSource) again(run *results.Run, cell lockbench.Cell) string {
	switch {
	case s.name == conclusion.Known:
		return run.Known.Parts.Shows(cell)
	case run.Search != nil:
		return run.Search.Parts.Shows(cell)
	}
	return ""
}

// shownFinding returns the finding that reports show for a cell. Without conditions it is the
// finding on exactly the cell. With conditions it counts every occasion that they touched, see
// [checker.Cells.Touched].
func shownFinding(all results.Cells, cell lockbench.Cell) results.Finding {
	if cell.Under == 0 {
		return all.At(cell)
	}
	return all.Touched(cell)
}

// strengthOf returns the strength of a finding as a word, and that word with the number of
// occasions.
func strengthOf(f results.Finding, explored bool) (word, text string) {
	n := figures.Number(f.Exposure)
	switch {
	case f.Fails():
		word = wordBroken
	case f.Verdict == checker.Broken:
		word = wordUnclaim
	case f.Exposure == 0:
		return wordNone, ""
	case f.Verdict == checker.Held && (explored || f.Exposure >= enough):
		return wordOK, wordOK + " " + n
	case f.Verdict == checker.Held, f.Verdict == checker.Untested:
		return wordWeak, wordWeak + " " + n
	default:
		return wordNone, ""
	}
	if explored {
		return word, fmt.Sprintf("%s in %s", word, figures.Plural(f.Violations, "schedule"))
	}
	return word, fmt.Sprintf("%s %s/%s", word, figures.Number(f.Violations), n)
}

// sourceProperties returns the findings on a design by source, as properties of a test suite.
func sourceProperties(run *results.Run) (all [][2]string) {
	if run.Conclusion == nil {
		return nil
	}
	for _, s := range cellSources(run) {
		all = append(all, [2]string{"source: " + string(s.name), s.text()})
	}
	return all
}
