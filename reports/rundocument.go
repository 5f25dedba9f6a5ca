package reports

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// legend explains the signs of the pictures on a terminal.
var legend = document.Only(document.Terminal,
	&document.Paragraph{Tone: document.None, Text: "[ granted   = within the lease   | lease over   . past it   R release   E extend   A acquire   r read   w write"},
	&document.Paragraph{Tone: document.None, Text: "overlap: ! both within their lease   ~ one past it   (not to scale; numbers on the axis are those of the lines)"})

// resultDocument returns the report of runs or explorations.
func resultDocument(r *results.Result) *document.Document {
	merged := r.Designs()
	s := resultSummary(&merged)
	d := &document.Document{Kind: "report", Title: s.title(), Version: r.Environment.Version, Suites: resultSuites(r), Series: s.series()}
	s.conclude(d)
	if len(merged.Runs) > 0 {
		d.Footer = s.footer()
	}
	if r.Explored() {
		d.Kind = "exploration"
		d.Blocks = s.explorationBlocks(r.Runs)
	} else {
		d.Blocks = s.runBlocks()
	}
	return d
}

func (s *summary) title() string {
	n, locks := len(s.result.Runs), s.result.Locks()
	switch {
	case n == 0:
		return "nothing was run"
	case n == 1:
		return labels(s.result)[0]
	case len(locks) == 1:
		return fmt.Sprintf("%s at %d points", s.lockName(&s.result.Runs[0]), n)
	case s.label.Points():
		return fmt.Sprintf("%d locks, %d points", len(locks), n)
	}
	return fmt.Sprintf("%d locks", n)
}

// footer states the settings, the seed and the server.
func (s *summary) footer() string {
	first := &s.result.Runs[0]
	parts := s.settings(first)
	if first.Workload != "" {
		parts = slices.Insert(parts, 0, "workload "+first.Workload)
	}
	server := s.result.ServerOf(first)
	return strings.Join(append(parts, fmt.Sprintf("seed %d", first.Seed), "server "+kindOf(server)+" "+server.Version), ", ")
}

// runBlocks returns the blocks of live runs.
func (s *summary) runBlocks() []document.Block {
	blocks := []document.Block{s.thresholds(), s.acceptances()}
	if len(s.result.Runs) > 0 {
		head := document.Only(document.Terminal, &document.Paragraph{Facts: s.heading()})
		head.Blocks = append(head.Blocks, s.servers()...)
		table := []document.Block{s.speeds()}
		if s.crowded() {
			table = []document.Block{s.inWhole(table[0]), s.shortTable()}
		}
		speeds := append(table, s.rates(), document.Only(document.Terminal|document.Page, append(s.arrivals(), s.inWhole(s.costs()), s.inWhole(s.machines()))...))
		speeds = append(speeds, s.compareChart()...)
		blocks = slices.Concat([]document.Block{s.conclusions(), head, s.pageFacts()}, blocks, []document.Block{named("Speed", "speed", speeds...), s.inWhole(s.business()), s.inWhole(s.guarantees())})
	}
	return append(blocks, document.Only(document.Markdown, s.errors()), document.Only(document.Terminal|document.Page,
		named("What happened", "happened", s.troubles(), s.standstills(), s.errors(), s.injected()), s.runSections(nil),
		named("What is left open", "left", s.guards(), s.openClaims(), s.inWhole(s.notExercised("this workload and its faults"))), s.selfCheck()))
}

// explorationBlocks returns the blocks of explored designs; scenarios are the runs that they
// consist of.
func (s *summary) explorationBlocks(scenarios []results.Run) []document.Block {
	first := &scenarios[0]
	parts := append([]string{"exploring"}, s.settings(first)...)
	parts = append(parts, fmt.Sprintf("seed %d", first.Seed))
	head := document.Only(document.Terminal, line(strings.Replace(strings.Join(parts, ", "), ",", "", 1)))
	if kinds := first.Exploration.Kinds; len(kinds) > 0 && first.Exploration.Faults > 0 {
		head.Blocks = append(head.Blocks, line("faults: "+strings.Join(kinds, ", ")))
	}
	head.Blocks = append(head.Blocks, line(fmt.Sprintf("server: %s, %s, in virtual time", s.result.Server.Kind, s.result.Server.Version)))
	return []document.Block{
		s.conclusions(), head, s.pageFacts(), document.Only(document.Page, line("In virtual time, one server command at a time: there is no speed to show.")),
		s.thresholds(), s.guarantees(),
		document.Only(document.Terminal|document.Page,
			named("What was done", "happened", covered(s.result.Runs, scenarios), s.troubles()), s.runSections(scenarios),
			named("What is left open", "left", s.openClaims(), s.notExercised("these scenarios and faults"))),
	}
}

// named returns a section with a title that only pages show.
func named(title, id string, blocks ...document.Block) *document.Section {
	return &document.Section{ID: id, PageTitle: title, Blocks: blocks}
}

// guarantees returns the table of findings: the table of a single design, or a row for each of
// several designs.
func (s *summary) guarantees() document.Block {
	t := resultGuarantees(s.result)
	if s.label.Points() {
		t = s.lockGuarantees()
	}
	return named("Guarantees", "guarantees", &t)
}

// compareChart puts the latencies of all runs on one chart.
func (s *summary) compareChart() []document.Block {
	if len(s.result.Runs) < 2 {
		return nil
	}
	of := "designs"
	if s.label.Points() {
		of = "points"
	}
	title, caption := "Acquire, all "+of, "how long the given share of acquires took at most"
	if n := len(s.result.Runs); n > mostLines {
		title = fmt.Sprintf("Acquire, %d of %d %s", mostLines, n, of)
		caption += "; a click on a name draws it, or takes it away"
	}
	return []document.Block{&document.Chart{Kind: "compare", Title: title, Caption: caption,
		Says: "Latency of acquire of all " + of + " by percentile; the table above has the figures"}}
}

// pageFacts returns the settings that all runs share, and their environment.
func (s *summary) pageFacts() document.Block {
	first, facts := &s.result.Runs[0], s.shared()
	server := s.result.ServerOf(first)
	facts = append(facts, strings.TrimSuffix(kindOf(server)+", "+server.Version, ", "))
	if at, err := time.Parse(time.RFC3339, first.Started); err == nil {
		facts = append(facts, "started "+at.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	return document.Only(document.Page, &document.Paragraph{Facts: append(facts, environmentFacts(s.result.Environment)...)})
}

// shared returns the settings of the first run that all runs have in common.
func (s *summary) shared() (facts []string) {
	first := &s.result.Runs[0]
	same := func(of func(*results.Run) string) bool {
		return !slices.ContainsFunc(s.result.Runs, func(run results.Run) bool { return of(&run) != of(first) })
	}
	if first.Workload != "" && same(func(run *results.Run) string { return run.Workload }) {
		facts = append(facts, "workload "+first.Workload)
	}
	if same(func(run *results.Run) string { return strings.Join(s.runSettings(run), ", ") }) {
		facts = append(facts, s.runSettings(first)...)
	}
	if first.Seed != 0 && same(func(run *results.Run) string { return fmt.Sprint(run.Seed) }) {
		facts = append(facts, fmt.Sprintf("seed %d", first.Seed))
	}
	return facts
}

// runSettings returns the parameters of a run that matter in its heading, and the form of its
// arrivals.
func (s *summary) runSettings(r *results.Run) []string {
	all := s.settings(r)
	if loop := arrival(r.Params); loop != "" && r.Exploration == nil {
		all = append(all, loop)
	}
	return all
}

func runID(i int) string { return fmt.Sprintf("run-%d", i+1) }

// inWhole returns a section that a brief report leaves out if there are many runs.
func (s *summary) inWhole(b document.Block) *document.Section {
	section := &document.Section{Blocks: []document.Block{b}}
	if s.crowded() {
		section.Length = document.Whole
	}
	return section
}

// crowded reports whether there are so many runs that a brief report has only a line for each.
func (s *summary) crowded() bool { return len(s.result.Runs) > fewRuns }

// onScreen returns a section that a brief report has in place of the sections it leaves out.
func onScreen(blocks ...document.Block) *document.Section {
	return &document.Section{Media: document.Terminal, Length: document.Short, Blocks: blocks}
}

// shortTable returns the table of speeds with the notes of a brief report.
func (s *summary) shortTable() *document.Section {
	t := s.speeds()
	t.Notes = []string{"--evidence all shows more"}
	return onScreen(t)
}

// hidesEvidence reports whether a brief report leaves out the evidence of a run: it is one of many and
// broke no claim.
func (s *summary) hidesEvidence(run *results.Run) bool {
	return s.crowded() && run.Control == "" && len(run.Cells.Broken()) > 0 && !slices.ContainsFunc(run.Cells.Sorted(), run.Cells.Fails)
}

// runSections returns a section for each run; a terminal shows only runs with breaches, with the
// evidence.
func (s *summary) runSections(scenarios []results.Run) *document.Section {
	all := &document.Section{}
	explained := s.result.Explored()
	if len(s.result.Runs) > 1 {
		all.Blocks = append(all.Blocks, s.links())
	}
	for i, label := range labels(s.result) {
		run := &s.result.Runs[i]
		names := run.Cells.Broken()
		section := &document.Section{ID: runID(i), Role: document.Subject, Title: label, Mark: runTone(run)}
		if s.hidesEvidence(run) {
			section.Length = document.Whole
		}
		if run.Exploration != nil {
			section.Blocks = append(section.Blocks, document.Only(document.Page, facts(coverage(scenarios, run.Design, true))))
		}
		section.Blocks = append(section.Blocks, s.runFacts(i, label))
		if len(names) > 0 && run.Control == "" {
			section.Says = "broke " + list(names)
			if !explained {
				explained = true
				section.Blocks = append(section.Blocks, s.signs())
			}
			section.Blocks = append(section.Blocks, runEvidence(run, &gallery{id: runID(i), design: run.Design, label: label})...)
		}
		section.Blocks = append(section.Blocks, s.searchEvidence(run, &gallery{id: runID(i) + "-explored", design: run.Design, label: label})...)
		all.Blocks = append(all.Blocks, section)
	}
	return all
}

// signs returns the legend of the pictures; a brief report has it only if there are any.
func (s *summary) signs() document.Block {
	pictured := func(r results.Run) bool {
		return r.Exploration != nil || slices.ContainsFunc(r.Cells.Broken(), func(cell lockbench.Cell) bool { return r.Cells.At(cell).Against > 0 })
	}
	if slices.ContainsFunc(s.result.Runs, pictured) {
		return legend
	}
	return &document.Section{Length: document.Whole, Blocks: []document.Block{legend}}
}

// facts returns lines as a list.
func facts(lines []string) *document.List {
	l := &document.List{}
	for _, text := range lines {
		l.Items = append(l.Items, document.Item{Text: text})
	}
	return l
}

// links returns a paragraph with links to the runs.
func (s *summary) links() document.Block {
	p := &document.Paragraph{}
	for i, label := range labels(s.result) {
		p.Links = append(p.Links, document.Link{Text: label, ID: runID(i)})
	}
	return document.Only(document.Page, p)
}

// runEvidence returns the evidence for every broken cell of a run. Cells that fail the run come
// first. For an exploration it begins with the shortest schedule under the fewest conditions, the
// only schedule that a terminal shows in full.
func runEvidence(r *results.Run, g *gallery) (blocks []document.Block) {
	names := r.Cells.Broken()
	root, explored := r.Cells.Root()
	explored = explored && r.Exploration != nil && r.Exploration.Strategy != results.Replay
	if explored {
		names = slices.DeleteFunc(names, func(cell lockbench.Cell) bool { return cell == root })
		names = append([]lockbench.Cell{root}, names...)
	}
	var all []judgement
	for _, cell := range names {
		all = append(all, runJudgement(r, cell))
	}
	g.add(all)
	rest := &document.List{Title: "broken too"}
	folded := &document.List{Title: "broken, and not claimed"}
	for i := range all {
		section := g.section(&all[i])
		switch {
		case r.Exploration == nil && all[i].Against == 0:
			section.Length = document.Whole
			folded.Items = append(folded.Items, document.Item{Name: all[i].cell.String(), Text: all[i].sentence()})
		case !explored:
		case i == 0:
			section.Title = "start here: " + section.Title
		default:
			section.Folded = true
			section.Media = document.Page | document.Markdown
			rest.Items = append(rest.Items, all[i].item()...)
		}
		blocks = append(blocks, section)
	}
	if len(all) > 1 && explored {
		only := document.Only(document.Terminal, rest)
		if file := all[0].Schedule.File; file != "" {
			only.Blocks = append(only.Blocks, line("each has its schedule in "+filepath.Dir(file)))
		}
		blocks = append(blocks, only)
	}
	switch again := recheck(r); {
	case len(folded.Items) > 0:
		blocks = append(blocks, onScreen(folded, shownBy(r)), &document.Section{Length: document.Whole, Blocks: []document.Block{again}})
	case r.Exploration == nil:
		blocks = append(blocks, again)
	}
	return blocks
}

// runFacts returns the facts that a page shows of one run beside its evidence.
func (s *summary) runFacts(i int, label string) document.Block {
	run := &s.result.Runs[i]
	about := &document.Paragraph{}
	if run.Workload != "" {
		about.Facts = append(about.Facts, "workload "+run.Workload)
	}
	if run.Grants > 0 {
		about.Facts = append(about.Facts, figures.Plural(run.Grants, "grant")+" in "+figures.Compact(run.MeasuredNS))
	}
	for _, f := range run.Faults {
		about.Facts = append(about.Facts, "fault "+f)
	}
	if run.History != "" {
		about.Facts = append(about.Facts, "history "+run.History)
	}
	only := document.Only(document.Page, about)
	if l := run.OpenLoop; l != nil {
		only.Blocks = append(only.Blocks, &document.Paragraph{Facts: []string{"arrivals on a schedule: " + figures.Rate(l.OfferedPerS) + "/s offered",
			figures.Rate(l.StartedPerS) + "/s started", figures.Rate(l.AnsweredPerS) + "/s answered"}})
	}
	if run.Exploration == nil && s.result.ServerOf(run).Kind == "embedded" {
		only.Blocks = append(only.Blocks, line("Measured on the embedded server: these are not the design's own speeds."))
	}
	if len(s.result.Runs) > 1 {
		t := resultCells(s.result, i, "conditions").table()
		only.Blocks = append(only.Blocks, &t)
	}
	only.Blocks = append(only.Blocks, verdicts(run)...)
	only.Blocks = append(only.Blocks, charts(run, runID(i), label)...)
	return only
}

// verdicts returns all cells of a run, with the untested ones in a list of their own.
func verdicts(r *results.Run) []document.Block {
	said, silent := &document.List{}, &document.List{}
	for _, tone := range []document.Tone{document.Bad, document.Unclaimed, document.Weak, document.Good, document.None} {
		for _, cell := range r.Cells.Sorted() {
			j := runJudgement(r, cell)
			if findingTone(&j.Finding) != tone {
				continue
			}
			item := document.Item{Tone: tone, Name: cell.String(), Text: j.text()}
			if tone == document.None {
				silent.Items = append(silent.Items, item)
			} else {
				said.Items = append(said.Items, item)
			}
		}
	}
	return []document.Block{
		&document.Section{Title: "Each guarantee under the conditions that were met", Folded: true, Blocks: []document.Block{said}},
		&document.Section{Title: "What met too little, or is not for this design", Folded: true, Blocks: []document.Block{silent}},
	}
}
