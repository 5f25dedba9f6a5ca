package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// matrixDocument returns the report of a matrix: the table, its sources, and on a page every cell
// with the finding of each part.
func matrixDocument(m *results.Matrix) *document.Document {
	d := &document.Document{
		Kind: "matrix", Title: fmt.Sprintf("%d designs", len(m.Rows)), Version: m.Environment.Version,
		Exit: m.Exit, Tone: exitTone(m.Exit), Suites: matrixSuites(m), Brief: true,
	}
	d.Headline, d.Why = outcome(m)
	if d.Conclusion = matrixConclusion(m); d.Conclusion != nil {
		d.Tone = d.Conclusion.Tone
	}
	var all []designCells
	for i := range m.Rows {
		all = append(all, matrixRowCells(&m.Rows[i], i, m.Rows[i].Design))
	}
	t := designTable(all)
	addConclusions(&t, m)
	promises := &document.List{}
	for _, g := range lockbench.Guarantees() {
		promises.Items = append(promises.Items, document.Item{Name: string(g.Name), Text: g.Promise})
	}
	d.Blocks = []document.Block{
		document.Only(document.Page, matrixFacts(m)), matrixGated(m).thresholds(), document.Only(document.Page, notRun(m)),
		named("Which design keeps what", "guarantees", &t,
			document.Only(document.Page, &document.Section{Title: "What the guarantees promise", Folded: true, Blocks: []document.Block{promises}})),
		named("What it is made from", "made",
			document.Only(document.Markdown, facts(append(partLines(m), m.Notes...))), document.Only(document.Terminal|document.Page, partList(m)),
			document.Only(document.Page, again("To make it again:", m.Command()))),
	}
	sections := document.Only(document.Page)
	for i := range m.Rows {
		sections.Blocks = append(sections.Blocks, section(m, i))
	}
	d.Blocks = append(d.Blocks, sections)
	return d
}

// addConclusions inserts a column with the conclusion on each design, if there are any.
func addConclusions(t *document.Table, m *results.Matrix) {
	if !slices.ContainsFunc(m.Rows, func(r results.MatrixRow) bool { return r.Conclusion != nil }) {
		return
	}
	t.Columns = slices.Insert(t.Columns, 0, document.Column{Name: "conclusion"})
	for i := range t.Rows {
		v := document.Value{Tone: document.None}
		if c := m.Rows[i].Conclusion; c != nil {
			v = document.Value{Text: string(c.Word), Tone: conclusionTone(c), Note: because(c)}
		}
		t.Rows[i].Cells = slices.Insert(t.Rows[i].Cells, 0, v)
	}
	t.Notes = slices.Insert(t.Notes, 0, "conclusion: what is known of the design in a word, over the usual conditions; the other columns have the worst of the five questions")
	t.Notes = slices.DeleteFunc(t.Notes, func(note string) bool { return note == worstNote })
}

// matrixConclusion counts the designs by conclusion; nil if there are none, or if the exit code
// is graver.
func matrixConclusion(m *results.Matrix) *document.Paragraph {
	count, all := make(map[conclusion.Word]int), 0
	for _, r := range m.Rows {
		if r.Conclusion != nil {
			count[r.Conclusion.Word]++
			all++
		}
	}
	if all == 0 || m.Exit != results.Passed {
		return nil
	}
	p := &document.Paragraph{Word: "No design is safe without a guard", Tone: document.Weak, Text: countedWords(count)}
	if n := count[conclusion.Safe] + count[conclusion.SafeSession]; n > 0 {
		p.Word, p.Tone = fmt.Sprintf("%d of %s safe without a guard", n, figures.Plural(int64(all), "design")), document.Good
	}
	return p
}

func matrixFacts(m *results.Matrix) *document.Paragraph {
	facts := []string{fmt.Sprintf("%d designs", len(m.Rows)), "drivers " + strings.Join(m.Settings.Drivers, ", "), fmt.Sprintf("seed %d", m.Settings.Seed)}
	return &document.Paragraph{Facts: append(facts, environmentFacts(m.Environment)...)}
}

// environmentFacts lists the facts of an environment.
func environmentFacts(e runinfo.Environment) (facts []string) {
	if e.OS != "" {
		facts = append(facts, fmt.Sprintf("%s/%s, %d CPUs", e.OS, e.Arch, e.CPUs))
	}
	if e.Version != "" {
		facts = append(facts, "lockbench "+e.Version)
	}
	return facts
}

func notRun(m *results.Matrix) *document.List {
	l := &document.List{}
	for _, name := range m.NotRun {
		l.Items = append(l.Items, document.Item{Word: "not run", Tone: document.Weak, Text: name})
	}
	return l
}

// designID returns the ID of the section on the i-th row or, with a cell, of the section on that
// cell.
func designID(i int, cell ...lockbench.Cell) string {
	id := fmt.Sprintf("design-%d", i+1)
	if len(cell) > 0 {
		id = (&gallery{id: id}).idOf(cell[0])
	}
	return id
}

// matrixRowCells returns the cells of a row; explored is false unless every part explored.
func matrixRowCells(r *results.MatrixRow, i int, label string) designCells {
	explored := !slices.ContainsFunc(r.Parts, func(p results.Part) bool { return !p.Explored() })
	return designCells{
		Cells: r.Cells, label: label, explored: explored && len(r.Parts) > 0, id: designID(i),
		link: func(cell lockbench.Cell) string { return designID(i, cell) },
	}
}

// partList returns the parts of the matrix, and the missing ones.
func partList(m *results.Matrix) *document.List {
	l := &document.List{}
	add := func(tone document.Tone, word, text string) {
		l.Items = append(l.Items, document.Item{Word: word, Tone: tone, Text: text})
	}
	for _, text := range partLines(m) {
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

// partLines returns a line on each part that applies to a design.
func partLines(m *results.Matrix) []string {
	var lines []string
	for _, part := range m.Settings.Parts {
		if !slices.ContainsFunc(m.Rows, func(r results.MatrixRow) bool { return !r.Lacks(part) }) {
			continue // a note says why
		}
		var designs, schedules, grants, ns int64
		var still *results.Standstills
		for i := range m.Rows {
			p := m.Rows[i].Part(part)
			if p == nil {
				continue
			}
			designs++
			grants += p.Counts.Grants
			still, ns = still.Plus(p.Standstills), ns+p.MeasuredNS
			schedules += results.Parts{*p}.Schedules()
		}
		what := figures.Plural(grants, "grant")
		if schedules > 0 {
			what = figures.Plural(schedules, "schedule") + ", " + what
		}
		line := fmt.Sprintf("%s: %s of %s; %s", part, what, figures.Plural(designs, "design"), selfChecked(m, part))
		if much := still.Of(ns); much != "" {
			line += fmt.Sprintf("; lockbench or its server stood still for %s, which breaks no claim", much)
		}
		lines = append(lines, line)
	}
	return lines
}

// selfChecked returns a phrase on whether a part caught the lock that is broken on purpose.
func selfChecked(m *results.Matrix, part string) string {
	p := m.SelfCheck.Part(part)
	switch {
	case p == nil:
		return "not checked by a lock broken on purpose"
	case m.SelfCheck.Caught(part):
		return fmt.Sprintf("a lock broken on purpose was caught (%s)", p.MustBreak)
	}
	return fmt.Sprintf("a lock broken on purpose was NOT caught: %s", uncaught(m, p))
}

// uncaught returns the reason why p did not catch the lock that is broken on purpose, with a hint.
func uncaught(m *results.Matrix, p *results.Part) string {
	overruns := p.Cells.At(lockbench.Exclusion.At(lockbench.Outlived)).Exposure
	remedy := "raise --budget"
	if m.Settings.Schedules > 0 && p.Explored() {
		remedy = "raise --schedules"
	}
	return fmt.Sprintf("%s met %s, and %s was not broken: %s", figures.Plural(p.Counts.Grants, "grant"), results.OutlivedHolds(overruns), p.MustBreak, remedy)
}

// outcome returns the meaning of the exit code of m in a few words, and the reason.
func outcome(m *results.Matrix) (headline, why string) {
	var claimed []string
	var unclaimed int64
	for i := range m.Rows {
		r := &m.Rows[i]
		if names := r.Cells.Failing(); len(names) > 0 {
			claimed = append(claimed, r.Design+" broke "+list(names))
		} else if len(r.Cells.Broken()) > 0 {
			unclaimed++
		}
	}
	switch m.Exit {
	case results.Passed:
		headline, why = "No claim was broken", heldClaims(slices.ContainsFunc(m.Rows, func(r results.MatrixRow) bool { return r.Cells.KeepsClaims() }))
	case results.BrokenClaim:
		headline, why = "Claims were broken", strings.Join(claimed, "; ")+failedToo(m)
	case results.FailedThreshold:
		headline, why = "Thresholds failed", strings.Join(matrixGated(m).failures(), "; ")
	default:
		headline, why = "Inconclusive", strings.Join(reasons(m), "; ")+failedToo(m)
	}
	if unclaimed > 0 {
		why += "; broken only where nothing was claimed: " + figures.Plural(unclaimed, "design")
	}
	return headline, why
}

// reasons returns the reasons why the matrix is inconclusive.
func reasons(m *results.Matrix) []string {
	var why []string
	for _, part := range m.Unproven() {
		why = append(why, fmt.Sprintf("%s: a lock broken on purpose was not caught, so that what held counts as untested: %s",
			part, uncaught(m, m.SelfCheck.Part(part))))
	}
	if n := len(m.NotRun); n > 0 {
		why = append(why, fmt.Sprintf("%s not run, such as %s", figures.Plural(int64(n), "part"), m.NotRun[0]))
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		if r.Exit() != results.Inconclusive {
			continue
		}
		untested := r.Cells.Untested()
		if len(untested) > 0 && len(m.Unproven()) == 0 {
			why = append(why, r.Design+" met too little of "+list(untested))
		}
		for _, p := range r.Parts {
			switch {
			case p.Error != "" || len(p.Defects) > 0:
				why = append(why, r.Design+" met an error in "+p.Name)
			case p.Problem() != "":
				why = append(why, r.Design+" was never granted a lock in "+p.Name)
			}
		}
	}
	if why = append(why, matrixGated(m).undecided()...); len(why) == 0 {
		return []string{"nothing was run"}
	}
	return why
}
