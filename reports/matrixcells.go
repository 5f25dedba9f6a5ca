package reports

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// explain returns the evidence for one cell of m: the verdict and the claim, then the finding
// of each part, with its counterexample and the commands that reproduce it. Without a cell it
// returns the table of the design, and all broken cells. It returns an error if the matrix
// has no such design.
func explain(m *results.Matrix, at results.CellName) (*document.Document, error) {
	i := slices.IndexFunc(m.Rows, func(r results.MatrixRow) bool { return r.Design == at.Design })
	if i < 0 {
		return nil, fmt.Errorf("design %s is not in the matrix; hint: it has %s", at.Design, strings.Join(m.Designs(), ", "))
	}
	e := matrixExplanation(m, i, at.File)
	if at.Cell.Guarantee != "" {
		return &document.Document{Blocks: []document.Block{e.section(at.Cell)}}, nil
	}
	t := matrixRowCells(e.row, i, at.Design).table()
	d := &document.Document{Blocks: append(rowConclusion(e.row), &t)}
	for _, cell := range e.row.Cells.Broken() {
		d.Blocks = append(d.Blocks, e.section(cell))
	}
	return d, nil
}

// rowConclusion returns the conclusion on a design with its reason, nothing if there is none.
func rowConclusion(r *results.MatrixRow) []document.Block {
	c := r.Conclusion
	if c == nil {
		return nil
	}
	return []document.Block{&document.Paragraph{Word: string(c.Word) + ":", Tone: conclusionTone(c), Text: because(c)}}
}

// section returns a page's section on the i-th design: its table, and every cell, folded. Occasions
// held under a mixture of conditions count for each condition.
func section(m *results.Matrix, i int) *document.Section {
	r := &m.Rows[i]
	t := matrixRowCells(r, i, r.Design).table()
	about := &document.Paragraph{}
	for _, fact := range []string{r.Source, r.Library, "claims " + r.Claims.String()} {
		if fact != "" {
			about.Facts = append(about.Facts, fact)
		}
	}
	s := &document.Section{ID: designID(i), Role: document.Subject, Title: r.Design, Mark: exitTone(r.Exit()), Blocks: []document.Block{about}}
	s.Blocks = append(append(s.Blocks, rowConclusion(r)...), &t)
	for _, o := range r.Without {
		s.Blocks = append(s.Blocks, line("No "+o.Part+": "+o.Why))
	}
	e := matrixExplanation(m, i, "")
	for _, cell := range r.Cells.Sorted() {
		shown := slices.ContainsFunc(r.Parts.On(cell), func(p *results.Part) bool { f := p.Cells.At(cell); return f.Drawable() })
		if cell.Under.Count() <= 1 || shown || r.Cells.At(cell).Verdict == checker.Broken {
			s.Blocks = append(s.Blocks, e.section(cell))
		}
	}
	return s
}

// An explanation explains cells of one design.
type explanation struct {
	*gallery
	m    *results.Matrix
	row  *results.MatrixRow
	file string // the file of the matrix
}

func matrixExplanation(m *results.Matrix, i int, file string) *explanation {
	r := &m.Rows[i]
	return &explanation{&gallery{id: designID(i), design: r.Design, label: r.Design, inFull: true}, m, r, file}
}

// section returns the findings on a cell.
func (e *explanation) section(at lockbench.Cell) *document.Section {
	f, parts := e.row.Cells.At(at), e.row.Parts.On(at)
	j := judgement{cell: at, Finding: f, reason: e.row.Reason(at)}
	s := &document.Section{
		ID: e.idOf(at), Role: document.Cell, Folded: true, Title: e.row.Design + "  " + at.String(), PageTitle: at.String(), Says: verdictWords(f), PageSays: j.text(), SaysTone: findingTone(&j.Finding),
		Blocks: []document.Block{line("it promises: " + at.Guarantee.Info().Promise), line("under: " + at.Under.Title())},
	}
	if read := e.row.Cells.Touched(at); f.Verdict != read.Verdict {
		s.Blocks = append(s.Blocks, line(fmt.Sprintf("%s where more happened: %s", read.Verdict, figures.Plural(read.Exposure, "occasion"))))
	}
	if len(parts) > 1 {
		s.Blocks = append(s.Blocks, line(fmt.Sprintf("decided by: %s, the gravest of %s", f.Part, figures.Plural(int64(len(parts)), "part"))))
	}
	s.Blocks = append(s.Blocks, e.claim(&j))
	for _, decided := range []bool{true, false} { // the part with the gravest finding comes first
		for i, p := range parts {
			if (p.Name == f.Part) == decided {
				s.Blocks = append(s.Blocks, e.found(fmt.Sprintf("%s-%d", s.ID, i+1), &j, p))
			}
		}
	}
	return appendBlocks(s, e.missing(at))
}

func appendBlocks(s *document.Section, more []document.Block) *document.Section {
	s.Blocks = append(s.Blocks, more...)
	return s
}

// claim returns a paragraph on whether the cell is claimed and, if not, why.
func (e *explanation) claim(j *judgement) *document.Paragraph {
	source := e.row.Source
	if source != "" {
		source = " (" + source + ")"
	}
	if j.reason == "" {
		return line("claimed" + source)
	}
	return line("not claimed" + source + ": " + j.reason)
}

// found returns one part's finding on a cell.
func (e *explanation) found(id string, of *judgement, p *results.Part) *document.Section {
	found := p.Cells.At(of.cell)
	scenarios := p.Scenarios(&found)
	j := judgement{of.cell, counted(found, p), of.reason, of.assumed}
	s := &document.Section{ID: id, Role: document.Found, Title: p.Name, Says: joinedBy("; ", verdictWords(found), detail(j.Finding)), SaysTone: findingTone(&j.Finding)}
	if found.Verdict == checker.Held && slices.Contains(e.m.Unproven(), p.Name) {
		s.Blocks = append(s.Blocks, line("It counts as untested: a lock broken on purpose was not caught: "+uncaught(e.m, e.m.SelfCheck.Part(p.Name))))
	}
	if j.Drawable() && e.shows(&j.Finding) == nil {
		e.drawn = append(e.drawn, picture{id, of.cell.String(), j.Finding})
	}
	s.Blocks = append(s.Blocks, e.counterexample(id, &j, "scenario "+scenarios[0])...)
	for _, text := range extent(p, scenarios) {
		s.Blocks = append(s.Blocks, line(text))
	}
	return appendBlocks(s, e.again(of.cell, p, &found))
}

// counted returns a finding of p in the form that detail expects: if p explored, violations are
// counted in schedules.
func counted(f results.Finding, p *results.Part) results.Finding {
	if scenarios := p.Scenarios(&f); p.Explored() && f.Violations > 0 {
		f.Scenarios = scenarios
	} else {
		f.Scenarios = nil
	}
	return f
}

// extent returns lines that describe a part: the given scenarios if it explored, else the run.
func extent(p *results.Part, scenarios []string) []string {
	if !p.Explored() {
		lines := []string{fmt.Sprintf("%s in %s, seed %d, server %s %s", figures.Plural(p.Counts.Grants, "grant"), figures.Compact(p.MeasuredNS), p.Seed, p.Server.Kind, p.Server.Version)}
		for _, f := range p.Injected {
			lines = append(lines, fmt.Sprintf("fault %s: occurred %s, %s held, %s acquiring", f.Fault, figures.Number(f.Occurrences), figures.Number(f.MetHeld), figures.Number(f.MetAcquire)))
		}
		return lines
	}
	var runs []results.Run
	for _, c := range p.Covered() {
		if slices.Contains(scenarios, c.Scenario) {
			runs = append(runs, results.Run{RunSettings: results.RunSettings{Workload: c.Scenario}, Exploration: &results.Exploration{Coverage: c.Coverage}})
		}
	}
	lines := coverage(runs, "", true)
	for i := range lines {
		lines[i] = strings.Replace(lines[i], " in 0ns", "", 1)
	}
	return lines
}

// again returns the commands that reproduce the finding.
func (e *explanation) again(cell lockbench.Cell, p *results.Part, found *results.Finding) (blocks []document.Block) {
	if found.Schedule != nil && found.Schedule.Replay != "" {
		file := results.ReplayName(e.row.Design, cell)
		from := ""
		if e.file != "" {
			from = " --from " + results.Quote(e.file)
		}
		blocks = append(blocks, document.Only(document.Terminal,
			again("this schedule:", fmt.Sprintf("lockbench explain %s %s%s --save %s", e.row.Design, cell, from, file)),
			again("              ", "lockbench explore --replay "+file)))
	}
	if _, err := os.Stat(p.History); p.History != "" && err == nil {
		blocks = append(blocks, again("this history:", "lockbench check "+results.Quote(p.History)))
	}
	if p.Command != "" {
		blocks = append(blocks, again("all of it again:", p.Command))
	}
	return blocks
}

// missing returns the parts without a finding on a cell, with the reasons. Parts with the same
// reason share an item.
func (e *explanation) missing(cell lockbench.Cell) []document.Block {
	var list document.List
	add := func(part, why string) {
		i := slices.IndexFunc(list.Items, func(item document.Item) bool { return item.Text == why })
		if i < 0 {
			list.Items = append(list.Items, document.Item{Name: part, Text: why})
			return
		}
		list.Items[i].Name += ", " + part
	}
	for _, o := range e.row.Without {
		add(o.Part, "not done: "+o.Why)
	}
	for _, part := range e.m.Settings.Parts {
		switch p := e.row.Part(part); {
		case e.row.Lacks(part):
		case p == nil:
			add(part, "not run")
		case p.Guard() != "": // it is only about the guard
		case !slices.Contains(e.row.Parts.On(cell), p):
			add(part, e.unmet(cell, p))
		}
	}
	if len(list.Items) == 0 {
		return nil
	}
	return []document.Block{&list}
}

// unmet returns a sentence on why a part had no occasion for the cell.
func (e *explanation) unmet(cell lockbench.Cell, p *results.Part) string {
	whole := p.Cells.At(cell.Guarantee.At(0))
	if why := detail(counted(whole, p)); whole.Verdict == checker.NotApplicable && why != "" {
		return verdictWords(whole) + "; " + why
	}
	if p.Explored() && cell.Under.Has(lockbench.Failover) {
		return "not exercised; its one server has no replica"
	}
	return "not exercised"
}
