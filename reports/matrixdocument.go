package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// document is what reports show of a matrix: the table, what it is made from, and on a page
// every cell with what each part found of it.
func (m *Matrix) document() *document.Document {
	d := &document.Document{
		Kind: "matrix", Title: fmt.Sprintf("%d designs", len(m.Rows)), Version: m.Environment.Version,
		Exit: m.Exit, Tone: exitTone(m.Exit), Suites: m.suites(), Brief: true,
	}
	d.Headline, d.Why = m.outcome()
	var all []designCells
	for i := range m.Rows {
		all = append(all, m.Rows[i].cells(i, m.Rows[i].Design))
	}
	t := designTable(all)
	promises := &document.List{}
	for _, g := range lockbench.Guarantees() {
		promises.Items = append(promises.Items, document.Item{Name: string(g.Name), Text: g.Promise})
	}
	d.Blocks = []document.Block{
		document.Only(document.Page, m.facts()), m.gated().thresholds(), document.Only(document.Page, m.notRun()),
		named("Which design keeps what", "guarantees", &t,
			document.Only(document.Page, &document.Section{Title: "What the guarantees promise", Folded: true, Blocks: []document.Block{promises}})),
		named("What it is made from", "made",
			document.Only(document.Markdown, facts(append(m.madeFrom(), m.Notes...))), document.Only(document.Terminal|document.Page, m.made()),
			document.Only(document.Page, again("To make it again:", m.command()))),
	}
	sections := document.Only(document.Page)
	for i := range m.Rows {
		sections.Blocks = append(sections.Blocks, m.section(i))
	}
	d.Blocks = append(d.Blocks, sections)
	return d
}

func (m *Matrix) facts() *document.Paragraph {
	facts := []string{fmt.Sprintf("%d designs", len(m.Rows)), "drivers " + strings.Join(m.Settings.Drivers, ", "), fmt.Sprintf("seed %d", m.Settings.Seed)}
	return &document.Paragraph{Facts: append(facts, environmentFacts(m.Environment)...)}
}

// environmentFacts are those of where something ran.
func environmentFacts(e history.Environment) (facts []string) {
	if e.OS != "" {
		facts = append(facts, fmt.Sprintf("%s/%s, %d CPUs", e.OS, e.Arch, e.CPUs))
	}
	if e.Version != "" {
		facts = append(facts, "lockbench "+e.Version)
	}
	return facts
}

func (m *Matrix) notRun() *document.List {
	l := &document.List{}
	for _, name := range m.NotRun {
		l.Items = append(l.Items, document.Item{Word: "not run", Tone: document.Weak, Text: name})
	}
	return l
}

// designID names the section about the i-th row, and with a cell the one about that.
func designID(i int, cell ...lockbench.Cell) string {
	id := fmt.Sprintf("design-%d", i+1)
	if len(cell) > 0 {
		id = (&gallery{id: id}).idOf(cell[0])
	}
	return id
}

// cells are those of a table: weak where they were not all explored.
func (r *MatrixRow) cells(i int, label string) designCells {
	explored := !slices.ContainsFunc(r.Parts, func(p MatrixPart) bool { return len(p.Covered) == 0 })
	return designCells{
		Cells: r.findings(), label: label, explored: explored && len(r.Parts) > 0, id: designID(i),
		link: func(cell lockbench.Cell) string { return designID(i, cell) },
	}
}

// made says what the matrix was made from, and what is missing of it.
func (m *Matrix) made() *document.List {
	l := &document.List{}
	add := func(tone document.Tone, word, text string) {
		l.Items = append(l.Items, document.Item{Word: word, Tone: tone, Text: text})
	}
	for _, text := range m.madeFrom() {
		add(document.Plain, "", text)
	}
	for _, note := range m.Notes {
		add(document.Plain, "note:", note)
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		for _, o := range r.Without {
			add(document.Plain, "note:", fmt.Sprintf("%s: no %s: %s", r.Design, o.Part, o.Why))
		}
		for _, p := range r.Parts {
			if p.Error != "" {
				add(document.Bad, "error:", r.Design+", "+p.Name+": "+p.Error)
			}
			for _, d := range p.Defects {
				add(document.Bad, "a defect of lockbench:", r.Design+", "+p.Name+": "+d)
			}
		}
	}
	return l
}

// madeFrom says in one line per part what was done.
func (m *Matrix) madeFrom() []string {
	var lines []string
	for _, part := range m.Settings.Parts {
		var designs, schedules, grants int64
		for i := range m.Rows {
			p := m.Rows[i].part(part)
			if p == nil {
				continue
			}
			designs++
			grants += p.Grants
			for _, c := range p.Covered {
				schedules += c.Schedules
			}
		}
		what := figures.Plural(grants, "grant")
		if schedules > 0 {
			what = figures.Plural(schedules, "schedule") + ", " + what
		}
		lines = append(lines, fmt.Sprintf("%s: %s of %s; %s", part, what, figures.Plural(designs, "design"), m.selfChecked(part)))
	}
	return lines
}

// selfChecked says whether the lock that is broken on purpose was caught in a part.
func (m *Matrix) selfChecked(part string) string {
	p := m.SelfCheck.part(part)
	switch {
	case p == nil:
		return "not checked by a lock broken on purpose"
	case m.SelfCheck.caught(part):
		return fmt.Sprintf("a lock broken on purpose was caught (%s)", p.MustBreak)
	}
	return fmt.Sprintf("a lock broken on purpose was NOT caught: %s", m.uncaught(p))
}

// uncaught says why the lock that is broken on purpose was not caught in p, and what
// to do about it.
func (m *Matrix) uncaught(p *MatrixPart) string {
	var overruns int64
	for _, e := range m.SelfCheck.Cells[lockbench.Exclusion.At(lockbench.Outlived)].Evidence {
		if e.Part == p.Name {
			overruns = e.Exposure
		}
	}
	remedy := "raise --budget"
	if m.Settings.Schedules > 0 && len(p.Covered) > 0 {
		remedy = "raise --schedules"
	}
	return fmt.Sprintf("%s met %s, and %s was not broken: %s", figures.Plural(p.Grants, "grant"), outlasted(overruns), p.MustBreak, remedy)
}

// outcome says what the exit code of m means, in a few words, and why.
func (m *Matrix) outcome() (headline, why string) {
	var claimed []string
	var unclaimed int64
	for i := range m.Rows {
		r := &m.Rows[i]
		if names := r.findings().names(func(_ lockbench.Cell, f Finding) bool { return f.fails() }); len(names) > 0 {
			claimed = append(claimed, r.Design+" broke "+list(names))
		} else if len(r.findings().broken()) > 0 {
			unclaimed++
		}
	}
	switch m.Exit {
	case Passed:
		headline, why = "No claim was broken", heldClaims(slices.ContainsFunc(m.Rows, func(r MatrixRow) bool { return r.findings().keepsClaims() }))
	case BrokenClaim:
		headline, why = "Claims were broken", strings.Join(claimed, "; ")+m.failedToo()
	case FailedThreshold:
		headline, why = "Thresholds failed", strings.Join(m.gated().failures(), "; ")
	default:
		headline, why = "Inconclusive", strings.Join(m.reasons(), "; ")+m.failedToo()
	}
	if unclaimed > 0 {
		why += "; broken only where nothing was claimed: " + figures.Plural(unclaimed, "design")
	}
	return headline, why
}

// reasons says why the matrix is inconclusive.
func (m *Matrix) reasons() []string {
	var why []string
	for _, part := range m.Unproven() {
		why = append(why, fmt.Sprintf("%s: a lock broken on purpose was not caught, so that what held counts as untested: %s",
			part, m.uncaught(m.SelfCheck.part(part))))
	}
	if n := len(m.NotRun); n > 0 {
		why = append(why, fmt.Sprintf("%s not run, such as %s", figures.Plural(int64(n), "part"), m.NotRun[0]))
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		if r.exit() != Inconclusive {
			continue
		}
		untested := r.findings().untested()
		if len(untested) > 0 && len(m.Unproven()) == 0 {
			why = append(why, r.Design+" met too little of "+list(untested))
		}
		for _, p := range r.Parts {
			switch {
			case p.Error != "" || len(p.Defects) > 0:
				why = append(why, r.Design+" met an error in "+p.Name)
			case p.failed():
				why = append(why, r.Design+" was never granted a lock in "+p.Name)
			}
		}
	}
	if why = append(why, m.gated().undecided()...); len(why) == 0 {
		return []string{"nothing was run"}
	}
	return why
}
