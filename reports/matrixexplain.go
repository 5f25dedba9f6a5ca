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
// then what each part says, with its witness and the commands that show it again. file
// is where the matrix is kept, empty for nowhere. It returns an error when the matrix
// has no such cell, else the first error of w.
func ExplainCell(w io.Writer, m Matrix, at CellName, opt TerminalOptions) error {
	r := m.Row(at.Design)
	if r == nil {
		return fmt.Errorf("design %s is not in the matrix; hint: it has %s", at.Design, strings.Join(m.designs(), ", "))
	}
	if heads[at.Guarantee] == "" {
		return fmt.Errorf("guarantee %s is measured, not judged; hint: lockbench list guarantees", at.Guarantee)
	}
	e := explanation{
		matrixText: matrixText{page: newPage(w, opt), m: &m},
		CellName:   at, row: r, cell: r.Cells[at.Guarantee],
	}
	e.verdict()
	e.claim()
	for _, found := range e.cell.Evidence {
		e.evidence(found)
	}
	e.missing()
	return e.Flush()
}

// A CellName says which cell of which matrix.
type CellName struct {
	Design    string
	Guarantee lockbench.Guarantee
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
	cell Cell
}

func (e *explanation) verdict() {
	text, paint := mark(e.cell)
	word := verdictWords(e.cell)
	e.printf("%s  %s  %s\n", e.bold(e.Design), e.bold(string(e.Guarantee)), paint(e.palette, text+" "+word))
	for _, info := range lockbench.Guarantees() {
		if info.Name == e.Guarantee {
			e.printf("  it holds when: %s\n", info.HoldsWhen)
		}
	}
	if e.cell.By != "" && len(e.cell.Evidence) > 1 {
		e.printf("  decided by: %s, the gravest of %s\n", e.cell.By, plural(int64(len(e.cell.Evidence)), "part"))
	}
}

// verdictWords names what the mark of a cell stands for.
func verdictWords(c Cell) string {
	if c.Verdict == checker.Untested && !c.Exercised {
		return "not exercised"
	}
	return c.Verdict.String()
}

// claim says whether the design is held to it, and its limits.
func (e *explanation) claim() {
	source := e.row.Source
	if source != "" {
		source = " (" + source + ")"
	}
	if !slices.Contains(e.row.Claims, e.Guarantee) {
		claims := list(e.row.Claims)
		if claims == "" {
			claims = "nothing"
		}
		e.printf("  not claimed%s: the design claims %s\n", source, claims)
		e.limits("known not to hold under")
		return
	}
	e.printf("  claimed%s\n", source)
	e.limits("but not under")
}

// limits tells what the design is known to give up under which faults.
func (e *explanation) limits(how string) {
	for _, l := range e.row.Limits {
		if slices.Contains(l.Gives, e.Guarantee) {
			e.printf("  %s %s: %s\n", how, l.Fault, l.Why)
		}
	}
}

// evidence says what one part found.
func (e *explanation) evidence(found Evidence) {
	p := e.row.Part(found.Part)
	if p == nil {
		return
	}
	cell := Cell{Verdict: found.Verdict, Claimed: found.Claimed, Exercised: found.Exercised}
	_, paint := mark(cell)
	e.printf("\n%s  %s", e.bold(found.Part), paint(e.palette, verdictWords(cell)))
	if d := detail(found.Counted(p)); d != "" {
		e.printf("; %s", d)
	}
	e.printf("\n")
	if found.Verdict == checker.Held && slices.Contains(e.m.Unproven(), found.Part) {
		e.printf("  but it counts as untested: a lock broken on purpose was not caught: %s\n", e.m.uncaught(e.m.SelfCheck.Part(found.Part)))
	}
	e.witness(found)
	e.extent(p, found)
	e.again(p, found)
}

// Counted is the guarantee as its Detail counts it: where p explored, once a schedule.
func (e Evidence) Counted(p *MatrixPart) Guarantee {
	g := e.Guarantee
	g.scenarios = nil
	if len(p.Covered) > 0 && g.Violations > 0 {
		g.scenarios = e.In
	}
	return g
}

func (e *explanation) witness(found Evidence) {
	switch {
	case found.Witness == nil:
		return
	case found.Schedule != nil:
		e.printf("  %s\n  scenario %s, found by schedule %s\n\n", found.Witness.Sentence, strings.Join(found.In[:1], ""), number(found.Schedule.FoundAt))
		writeSteps(e.Writer, e.palette, collapsed(found.Schedule.Steps))
	default:
		e.printf("  %s\n  key %s, times since the start of the run%s\n\n", found.Witness.Sentence, found.Witness.Key, margin(found.Witness.MarginNS))
		newTimeline(found.Witness).write(e.Writer, e.palette)
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
			lines = append(lines, fmt.Sprintf("fault %s: struck %s, %s held, %s acquiring", f.Fault, number(f.Struck), number(f.MetHeld), number(f.MetAcquire)))
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
		file := fmt.Sprintf("%s.%s.replay", FileName(e.Design), e.Guarantee)
		from := ""
		if e.File != "" {
			from = " --from " + quote(e.File)
		}
		e.printf("  this schedule: lockbench explain %s %s%s --save %s\n                 lockbench explore --replay %s\n", e.Design, e.Guarantee, from, file, file)
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
			e.printf("\n%s  not exercised\n", e.bold(part))
		}
	}
}

// CellReplay returns the schedule that shows a cell, as lockbench explore --replay takes
// it; an error when the matrix has none.
func CellReplay(m Matrix, at CellName) (string, error) {
	if r := m.Row(at.Design); r != nil {
		for _, e := range r.Cells[at.Guarantee].Evidence {
			if e.Schedule != nil && e.Schedule.Replay != "" {
				return e.Schedule.Replay, nil
			}
		}
	}
	return "", fmt.Errorf("no schedule shows %s of %s; hint: only what explore found broken, or a hazard, has one", at.Guarantee, at.Design)
}
