package explore

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// counterexamples shrinks the failures and shows them. Failures that count against the claims come
// first and, for each guarantee, failures under the fewest conditions. Shrinking may find new
// failures; they come last.
func (x *explorer) counterexamples() {
	shown := map[lockbench.Cell]bool{}
	x.result.Counterexamples = map[lockbench.Cell]Counterexample{}
	for left := x.unexplained(shown); len(left) > 0; left = x.unexplained(shown) {
		f := x.failures[left[0]]
		f.Candidate = x.shrink(f, x.shrinkUntil(len(left)))
		if f.against || !x.failures[f.Cell].against { // else the cell turned up meanwhile, and is shown as that
			x.failures[f.Cell], shown[f.Cell] = f, true
			x.show(f)
		}
	}
	for cell := range x.result.Counterexamples {
		if x.explained(cell, x.failures[cell].against) {
			delete(x.result.Counterexamples, cell)
		}
	}
	for _, w := range x.smallerWorlds {
		x.result.Defects = append(x.result.Defects, w.defects...)
	}
}

// unexplained returns the broken cells that are still to be shown, in order.
func (x *explorer) unexplained(shown map[lockbench.Cell]bool) []lockbench.Cell {
	return slices.DeleteFunc(slices.Concat(x.broken(true), x.broken(false)), func(cell lockbench.Cell) bool {
		return shown[cell] || x.explained(cell, x.failures[cell].against)
	})
}

// explained reports whether another broken cell explains that cell is broken, see
// [checker.Explains].
func (x *explorer) explained(cell lockbench.Cell, against bool) bool {
	b := failure{against: against}.finding()
	for by, f := range x.failures {
		if a := f.finding(); checker.Explains(by, cell, &a, &b) {
			return true
		}
	}
	return false
}

// finding returns the finding on a schedule with this failure.
func (f failure) finding() checker.Finding {
	out := checker.Finding{Verdict: checker.Broken, Violations: 1}
	if f.against {
		out.Against = 1
	}
	return out
}

// showTries bounds how often a schedule is run again until it repeats its steps. Once is enough if
// seeds decide all of the lock's behaviour.
const showTries = 50

// show runs a shrunk schedule once more to record it for a reader. A schedule that never repeats
// its steps is dropped.
func (x *explorer) show(f failure) {
	w, err := x.worldFor(f.Scope)
	if err != nil {
		x.defect("counterexample of %s: %v", f.Cell, err)
		return
	}
	var p shownRun
	var finding checker.CellFinding
	for try := 0; try < showTries && !broken(&finding, f.against); try++ {
		follow := &strategy.Guided{Choices: f.Choices}
		follow.Begin()
		if p, err = w.runShown(follow); err != nil {
			x.defect("counterexample of %s: %v", f.Cell, err)
			return
		}
		for _, d := range p.judged.Defects {
			x.defect("%s", d)
		}
		finding = p.judged.Find(f.Cell)
	}
	if !broken(&finding, f.against) {
		x.result.Coverage.Diverged++
		delete(x.failures, f.Cell)
		x.sum.drop(f.Cell)
		return
	}
	x.sum.addShrunk(&finding)
	out := Counterexample{
		CellFinding: checker.CellFinding{Cell: finding.Cell, Finding: checker.Finding{Verdict: finding.Verdict}}, Sentence: w.sentence(finding), Rows: p.notes.rows, Against: p.judged.Cells().Against(),
		FoundAt: f.schedule, FoundAfter: f.elapsed,
	}
	s := script{
		cfg: x.cfg.within(f.Scope), breaks: finding,
		comment: out.Sentence, lines: p.notes.lines,
	}
	out.Replay = Replay{s.text()}
	x.result.Counterexamples[f.Cell] = out
}

func (x *explorer) defect(format string, args ...any) {
	x.result.Defects = append(x.result.Defects, fmt.Sprintf(format, args...))
}

// A shownRun is the run of a schedule that is recorded for a reader.
type shownRun struct {
	judged checker.Result
	notes  *notes
}

// runShown runs one schedule with notes, and judges it with counterexamples.
func (w *world) runShown(s halter) (shownRun, error) {
	w.notes = &notes{}
	p := shownRun{notes: w.notes}
	defer func() { w.notes = nil }()
	defer w.end()
	ended, err := w.run(s)
	if err != nil {
		return p, err
	}
	if s.Halts() {
		p.notes.lines = append(p.notes.lines, line{actor: strategy.VerbStop.By(), verb: strategy.VerbStop})
	}
	if ended || s.Halts() {
		if err := w.finish(); err != nil {
			return p, err
		}
	}
	p.judged = w.judgedAtLength()
	return p, nil
}

// A halter is a strategy that may end a schedule early, where its list of choices does.
type halter interface {
	strategy.Chooser
	Halts() bool
}

func (r *replayChooser) Halts() bool { return r.halted }
