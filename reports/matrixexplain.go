package reports

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// ExplainCell writes the evidence for one cell of a matrix: the verdict and the claim,
// then what each part says, with its counterexample and the commands that show it again.
// Where no cell is named, it writes the table of the design, and all that was broken. It
// returns an error when the matrix has no such design, else the first error of w.
func ExplainCell(w io.Writer, m Matrix, at CellName, opt TerminalOptions) error {
	r := m.Row(at.Design)
	if r == nil {
		return fmt.Errorf("design %s is not in the matrix; hint: it has %s", at.Design, strings.Join(m.designs(), ", "))
	}
	e := explanation{matrixText: matrixText{page: newPage(w, opt), m: &m}, CellName: at, row: r}
	if at.Cell.Guarantee != "" {
		e.explain(at.Cell)
		return e.Flush()
	}
	table := r.GuaranteeTable()
	e.writeTable(&table, opt.Width)
	for _, cell := range r.Findings().Broken() {
		e.printf("\n")
		e.explain(cell)
	}
	return e.Flush()
}

// explain writes what there is to say of a cell.
func (e *explanation) explain(cell lockbench.Cell) {
	e.Cell, e.cell = cell, e.row.Cells[cell]
	e.verdict()
	e.claim()
	for _, found := range e.cell.Evidence {
		e.evidence(found)
	}
	e.missing()
}

// A CellName says which cell of which matrix.
type CellName struct {
	Design string
	// Cell is the zero value for all of the design.
	Cell lockbench.Cell
	// File is where the matrix is kept, empty for nowhere.
	File string
}

func (m *Matrix) designs() []string {
	var names []string
	for i := range m.Rows {
		names = append(names, m.Rows[i].Design)
	}
	return names
}

// explanation is the explanation of a cell being written.
type explanation struct {
	matrixText
	CellName
	row  *MatrixRow
	cell MatrixCell
}

func (e *explanation) verdict() {
	f := e.cell.Finding
	e.printf("%s  %s  %s\n", e.bold(e.Design), e.bold(e.Cell.String()), e.tone(toneOf(&f), verdictWords(f)))
	e.printf("  it promises: %s\n  under: %s\n", e.Cell.Guarantee.Info().Promise, e.Cell.Under.Title())
	if read := e.row.Findings().Read(e.Cell); f.Verdict != read.Verdict {
		e.printf("  %s where more happened: %s\n", read.Verdict, plural(read.Exposure, "occasion"))
	}
	if e.cell.By != "" && len(e.cell.Evidence) > 1 {
		e.printf("  decided by: %s, the gravest of %s\n", e.cell.By, plural(int64(len(e.cell.Evidence)), "part"))
	}
}

// verdictWords names the verdict of a cell.
func verdictWords(f Finding) string {
	if f.Verdict == checker.Untested && !f.Exercised {
		return "not exercised"
	}
	return f.Verdict.String()
}

// toneOf is how a verdict is coloured.
func toneOf(f *Finding) Tone {
	switch {
	case f.fails():
		return Bad
	case f.Verdict == checker.Held:
		return Good
	case f.Verdict == checker.Broken, f.Verdict == checker.Untested && f.Exercised:
		return Weak
	}
	return None
}

// claim says whether the design is held to it, and if not why.
func (e *explanation) claim() {
	source := e.row.Source
	if source != "" {
		source = " (" + source + ")"
	}
	why := e.row.Reason(e.Cell)
	if why == "" {
		e.printf("  claimed%s\n", source)
		return
	}
	e.printf("  not claimed%s: %s\n", source, why)
}

// evidence says what one part found.
func (e *explanation) evidence(found Evidence) {
	p := e.row.Part(found.Part)
	if p == nil {
		return
	}
	e.printf("\n%s  %s", e.bold(found.Part), e.tone(toneOf(&found.Finding), verdictWords(found.Finding)))
	if d := detail(found.Counted(p)); d != "" {
		e.printf("; %s", d)
	}
	e.printf("\n")
	if found.Verdict == checker.Held && slices.Contains(e.m.Unproven(), found.Part) {
		e.printf("  but it counts as untested: a lock broken on purpose was not caught: %s\n", e.m.uncaught(e.m.SelfCheck.Part(found.Part)))
	}
	e.counterexample(found)
	e.extent(p, found)
	e.again(p, found)
}

// Counted is the finding as its Detail counts it: where p explored, once a schedule.
func (e Evidence) Counted(p *MatrixPart) Finding {
	g := e.Finding
	g.scenarios = nil
	if len(p.Covered) > 0 && g.Violations > 0 {
		g.scenarios = e.In
	}
	return g
}

func (e *explanation) counterexample(found Evidence) {
	switch {
	case found.Counterexample == nil:
		return
	case found.Schedule != nil:
		e.printf("  %s\n  scenario %s, found by schedule %s\n\n", found.Counterexample.Sentence, strings.Join(found.In[:1], ""), number(found.Schedule.FoundAt))
		writeSteps(e.Writer, e.palette, collapsed(found.Schedule.Steps))
	default:
		e.printf("  %s\n  key %s, times since the start of the run%s\n\n", found.Counterexample.Sentence, found.Counterexample.Key, margin(found.Counterexample.MarginNS))
		newTimeline(found.Counterexample).write(e.Writer, e.palette)
	}
	e.printf("\n")
}

// extent says what the part covered.
func (e *explanation) extent(p *MatrixPart, found Evidence) {
	for _, line := range p.Extent(found.In) {
		e.printf("  %s\n", line)
	}
}

// Extent says, line by line, what a part covered: of what it explored the given scenarios,
// or the run.
func (p *MatrixPart) Extent(scenarios []string) []string {
	if len(p.Covered) == 0 {
		lines := []string{fmt.Sprintf("%s in %s, seed %d, server %s %s", plural(p.Grants, "grant"), compact(p.ElapsedNS), p.Seed, p.Server.Kind, p.Server.Version)}
		for _, f := range p.Injected {
			lines = append(lines, fmt.Sprintf("fault %s: occurred %s, %s held, %s acquiring", f.Fault, number(f.Occurrences), number(f.MetHeld), number(f.MetAcquire)))
		}
		return lines
	}
	var runs []Run
	for _, c := range p.Covered {
		if slices.Contains(scenarios, c.Scenario) {
			runs = append(runs, Run{Workload: c.Scenario, Exploration: &Exploration{Coverage: c.Coverage}})
		}
	}
	lines := coverage(runs, "", true)
	for i := range lines {
		lines[i] = strings.Replace(lines[i], " in 0ns", "", 1)
	}
	return lines
}

// again says how to see it again.
func (e *explanation) again(p *MatrixPart, found Evidence) {
	if found.Schedule != nil && found.Schedule.Replay != "" {
		file := replayName(e.Design, e.Cell)
		from := ""
		if e.File != "" {
			from = " --from " + quote(e.File)
		}
		e.printf("  this schedule: lockbench explain %s %s%s --save %s\n                 lockbench explore --replay %s\n", e.Design, e.Cell, from, file, file)
	}
	if _, err := os.Stat(p.History); p.History != "" && err == nil {
		e.printf("  this history: lockbench check %s\n", quote(p.History))
	}
	if p.Command != "" {
		e.printf("  all of it again: %s\n", p.Command)
	}
}

// missing says which parts have nothing to say, and why.
func (e *explanation) missing() {
	for _, o := range e.row.Without {
		e.printf("\n%s  not done: %s\n", e.bold(o.Part), o.Why)
	}
	for _, part := range e.m.Settings.Parts {
		switch p := e.row.Part(part); {
		case e.row.lacks(part):
		case p == nil:
			e.printf("\n%s  not run\n", e.bold(part))
		case !slices.ContainsFunc(e.cell.Evidence, func(found Evidence) bool { return found.Part == part }):
			e.printf("\n%s  %s\n", e.bold(part), e.unmet(p))
		}
	}
}

// unmet says that a part met no occasion, and why it could meet none.
func (e *explanation) unmet(p *MatrixPart) string {
	for _, whole := range e.row.Cells[e.Cell.Guarantee.At(0)].Evidence {
		if why := detail(whole.Counted(p)); whole.Part == p.Name && whole.Verdict == checker.NotApplicable && why != "" {
			return verdictWords(whole.Finding) + "; " + why
		}
	}
	if len(p.Covered) > 0 && e.Cell.Under.Has(lockbench.Failover) {
		return "not exercised; its one server has no replica"
	}
	return "not exercised"
}

// CellReplay returns the schedule that shows a cell, as lockbench explore --replay takes
// it; an error when the matrix has none.
func CellReplay(m Matrix, at CellName) (string, error) {
	if r := m.Row(at.Design); r != nil {
		for _, e := range r.Cells[at.Cell].Evidence {
			if e.Schedule != nil && e.Schedule.Replay != "" {
				return e.Schedule.Replay, nil
			}
		}
	}
	return "", fmt.Errorf("no schedule shows %s of %s; hint: only what explore found broken has one", at.Cell, at.Design)
}
