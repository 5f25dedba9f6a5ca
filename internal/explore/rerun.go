package explore

import (
	"context"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// Rerun runs the schedule of a replay file again, with d as its design, and judges it.
// Result.Defects reports if the schedule cannot be followed exactly, or does not show the violation
// of the file. The error is about the file or the set-up.
func Rerun(ctx context.Context, bubble Bubble, d design.Design, r Replay) (Result, error) {
	file, err := parseReplay(r.Text)
	if err != nil {
		return Result{}, err
	}
	file.cfg.Design = d
	cfg, program, err := configForReplay(file.cfg).resolve()
	if err != nil {
		return Result{}, err
	}
	x := &explorer{cfg: cfg, program: program, bubble: bubble, tell: func(Progress) {}}
	err = x.enter(ctx, func() error { return x.rerun(file, r) })
	x.result.Design = d.Name
	return x.result, err
}

func (x *explorer) rerun(file *script, r Replay) error {
	w, err := newWorld(x.cfg, x.program, x.bubble, x.global)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.warmUp(); err != nil {
		return err
	}
	follow := &replayChooser{lines: file.lines, show: w.describe}
	p, err := w.runShown(follow)
	if err != nil {
		return err
	}
	x.result.Findings, x.result.Grants = p.judged.Findings, p.judged.Grants
	for i := range x.result.Findings {
		f := &x.result.Findings[i]
		f.Violations = min(1, f.Violations) // in schedules, not occasions
		if f.Counterexample != nil {
			f.Counterexample.Sentence = w.sentence(*f)
		}
	}
	x.result.Coverage = Coverage{
		Strategy: Exhaustive, Scenario: x.cfg.Scenario, Clients: x.cfg.Clients, Threads: x.cfg.Threads,
		Rounds: x.cfg.Rounds, Schedules: 1, Stopped: "replay",
	}
	x.result.Defects = append(p.judged.Defects, w.defects...)
	x.compare(file, follow, p.notes.lines)
	x.showViolation(file, w, p)
	for g, counterexample := range x.result.Counterexamples {
		counterexample.Replay = r
		x.result.Counterexamples[g] = counterexample
	}
	return nil
}

// compare reports the first difference between the schedule and the file as a defect.
func (x *explorer) compare(file *script, follow *replayChooser, lines []line) {
	if follow.divergence != "" {
		x.defect("%s", follow.divergence)
	}
	was, is := requiredLines(file.lines), requiredLines(lines)
	for i := range min(len(was), len(is)) {
		if !was[i].matches(is[i]) {
			x.defect("step %d was %q in the file and is %q", i+1, was[i], is[i])
			break
		}
	}
	if len(is) < len(was) && follow.divergence == "" {
		x.defect("the schedule ended after %d of %d steps", len(is), len(was))
	}
}

// matches reports whether l, from a file, describes the noted step is. A file may leave out the
// command or the whole description of a step.
func (l line) matches(is line) bool {
	return l.actor == is.actor && l.verb == is.verb &&
		(l.what == is.what || l.what == "" || strings.HasPrefix(is.what, l.what+":"))
}

// requiredLines returns the lines without those that a file may leave out.
func requiredLines(lines []line) []line {
	implied := func(l line) bool { return l.verb == strategy.VerbWait || l.verb == strategy.VerbBegin }
	return slices.DeleteFunc(slices.Clone(lines), implied)
}

// showViolation shows the violation of the cell that the file names.
func (x *explorer) showViolation(file *script, w *world, p shownRun) {
	if file.breaks.Cell == (lockbench.Cell{}) {
		return
	}
	finding := file.findingOf(p.judged)
	if file.breaks.Verdict.Graver(finding.Verdict) {
		x.defect("the file says that %s is %s; it is %s", file.breaks.Cell, file.breaks.Verdict, finding.Verdict)
	}
	x.result.Counterexamples = map[lockbench.Cell]Counterexample{finding.Cell: {
		CellFinding: checker.CellFinding{Cell: finding.Cell, Finding: checker.Finding{Verdict: finding.Verdict}}, Sentence: w.sentence(finding), Rows: p.notes.rows, Against: p.judged.Cells().Against(), FoundAt: 1,
	}}
}

// findingOf returns the finding on the cell that the file names.
func (s *script) findingOf(r checker.Result) checker.CellFinding {
	if s.breaks.Verdict != checker.Broken {
		return checker.CellFinding{Cell: s.breaks.Cell, Finding: r.Cells().Sum(s.breaks.Cell)}
	}
	return r.Find(s.breaks.Cell)
}

// describe returns the note of a choice before it is made.
func (w *world) describe(c strategy.Choice) string {
	l := line{actor: w.nameOf(c), verb: c.Verb}
	switch {
	case c.Verb.Timed():
		l.what = c.At.String()
	case c.Actor != strategy.NoActor:
		l.what = w.nextItem(c)
	}
	return l.String()
}

// nextItem describes the item that the actor of c waits for.
func (w *world) nextItem(c strategy.Choice) string {
	a := w.actors[c.Actor]
	if c.Nth < strategy.LateCommand && c.Nth >= a.items() {
		return ""
	}
	n := notes{late: c.Nth >= strategy.LateCommand, printer: w.notes.printer.Copy()}
	n.looksAt(a.item(c.Nth), a)
	return n.text()
}
