package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// concluded reports whether a conclusion was drawn of some run.
func (s *summary) concluded() bool {
	return slices.ContainsFunc(s.result.Runs, func(r results.Run) bool { return r.Conclusion != nil })
}

// conclusionTone returns the colour of a conclusion.
func conclusionTone(c *conclusion.Conclusion) document.Tone {
	switch {
	case c == nil:
		return document.None
	case c.Word == conclusion.DoNotUse:
		return document.Bad
	case c.Word == conclusion.Safe, c.Word == conclusion.SafeSession:
		return document.Good
	}
	return document.Weak
}

// runTone returns the colour of a run: the worse of its exit code and its conclusion.
func runTone(r *results.Run) document.Tone {
	if exit := exitTone(r.Exit); exit == document.Bad || r.Conclusion == nil {
		return exit
	}
	tone := conclusionTone(r.Conclusion)
	if tone == document.Good {
		tone = exitTone(r.Exit)
	}
	return tone
}

// conclusions returns the first section of a report: a line for each design, and what conclusions
// rest on. The conclusion on the only lock, and the recommended lock, are the headline of the report.
func (s *summary) conclusions() *document.Section {
	section := named("Conclusion", "conclusion")
	if !s.concluded() {
		return section
	}
	whole, brief := &document.Section{}, onScreen()
	best := s.bestFirst()
	for _, word := range conclusion.Words {
		if len(s.result.Locks()) == 1 {
			break
		}
		if l := s.concludedTo(word, best); len(l.Items) > 0 {
			whole.Blocks, brief.Blocks = append(whole.Blocks, l), append(brief.Blocks, s.reasonsFor(word, best))
		}
	}
	whole.Media = document.Terminal | document.Markdown
	section.Blocks = []document.Block{document.Only(document.Page, s.conclusionTable(), s.scope()), whole}
	whole.Blocks = append(whole.Blocks, s.scope())
	if s.crowded() {
		whole.Length = document.Whole
		brief.Blocks = append(brief.Blocks, s.leftOutList())
		section.Blocks = append(section.Blocks, brief)
	}
	return section
}

// reasonsFor returns the reasons for a conclusion, each once, with the designs.
func (s *summary) reasonsFor(word conclusion.Word, best []int) *document.List {
	l := &document.List{Title: string(word)}
	var these []int
	for _, i := range best {
		c := s.result.Runs[i].Conclusion
		if c.Word != word {
			continue
		}
		if c.Guard != "" {
			l.Title = string(word) + " (the store refuses late writes: --guard cas or fence)"
		}
		these = append(these, i)
	}
	for _, r := range conclusion.ByReason(these, func(i int) (why, lock string) {
		run := &s.result.Runs[i]
		return run.Conclusion.Brief(), s.lockName(run) + sourceMarks[run.Conclusion.Source]
	}) {
		l.Items = append(l.Items, document.Item{Text: r.Why + ": " + strings.Join(r.Locks, ", ")})
	}
	return l
}

// sourceMarks mark, in tables, designs with a conclusion from another source.
var sourceMarks = map[conclusion.Source]string{conclusion.Explored: markExplored, conclusion.Known: markKnown}

// countedWords returns numbers of conclusions in words, the best first, as in "1 safe only with a guard, 2
// do not use"; empty for none.
func countedWords(count map[conclusion.Word]int) string {
	var parts []string
	for _, word := range conclusion.Words {
		if n := count[word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", ")
}

// leftOut returns a phrase with the conditions that the conclusions do not cover.
func (s *summary) leftOut() string {
	var titles []string
	for i := range s.result.Runs {
		if c := s.result.Runs[i].Conclusion; c != nil {
			for _, under := range c.LeftOut {
				titles = append(titles, under.Title())
			}
			break // all conclusions are over the same conditions
		}
	}
	return strings.Join(titles, ", ")
}

// leftOutList returns the same conditions as a list, for a brief report, with the meaning of the marks
// in it.
func (s *summary) leftOutList() *document.List {
	l := &document.List{}
	if left := s.leftOut(); left != "" {
		l.Items = append(l.Items, document.Item{Text: "not tried: " + left})
	}
	l.Items = append(l.Items, document.Item{Text: markExplored + ": found by exploration; " + markKnown + ": known from the released matrix"})
	return l
}

// bestFirst returns the indexes of the runs with a conclusion, the best first, in the order in which
// locks are recommended: the recommended lock comes before all that are as safe. Speeds do not count.
// Equal ones keep the order of the runs.
func (s *summary) bestFirst() (all []int) {
	for i := range s.result.Runs {
		if s.result.Runs[i].Conclusion != nil {
			all = append(all, i)
		}
	}
	conclusion.SortRivals(all, func(i *int) conclusion.Rival {
		c := s.result.Runs[*i].Conclusion
		return conclusion.Rival{Conclusion: c, Tried: len(c.Open) == 0, Breaks: len(c.BrokenUnder)}
	})
	rank := func(i int) int { return s.result.Runs[i].Conclusion.Rank() }
	recommended := func(i int) int {
		if s.result.Recommendation.Of(&s.result.Runs[i]) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Or(rank(b)-rank(a), recommended(b)-recommended(a)) })
	return all
}

// concludedTo returns the designs with a conclusion, of those listed by best.
func (s *summary) concludedTo(word conclusion.Word, best []int) *document.List {
	l := &document.List{Title: string(word)}
	for _, i := range best {
		if run := &s.result.Runs[i]; run.Conclusion.Word == word {
			l.Items = append(l.Items, document.Item{Name: s.lockName(run), Text: because(run.Conclusion), Tone: conclusionTone(run.Conclusion)})
		}
	}
	return l
}

// conclusionTable returns a table with a row for each design: its conclusion, the reason, and the
// conditions tested too little.
func (s *summary) conclusionTable() *document.Table {
	t := &document.Table{Corner: "design", Columns: []document.Column{{Name: "conclusion"}, {Name: "why", Prose: true}, {Name: "tried too little", Prose: true}}}
	for _, i := range s.bestFirst() {
		c := s.result.Runs[i].Conclusion
		t.Rows = append(t.Rows, document.Row{Name: s.lockName(&s.result.Runs[i]), Link: runID(i), Cells: []document.Value{
			{Text: string(c.Word), Tone: conclusionTone(c)}, {Text: reasonOf(c)}, {Text: cmp.Or(strings.Join(openTitles(c), "; "), "nothing")},
		}})
	}
	return t
}

// openTitles returns the titles of the conditions that were tested too little.
func openTitles(c *conclusion.Conclusion) (titles []string) {
	for _, o := range c.Open {
		if title := o.Under.Title(); !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return titles
}

// because returns the reason of a conclusion, and the number of conditions tested too little.
func because(c *conclusion.Conclusion) string {
	text := reasonOf(c)
	if n := len(openTitles(c)); c.Word != conclusion.NotKnown && c.Word != conclusion.NotWithoutGuard && n > 0 {
		text += "; tried too little under " + figures.Plural(int64(n), "condition")
	}
	return text
}

// reasonOf returns the reason of a conclusion, with its source.
func reasonOf(c *conclusion.Conclusion) string {
	text := c.Why
	if c.Source != "" {
		text += fmt.Sprintf(" (%s, %s)", c.Cell, c.Source)
	}
	if c.Guard != "" {
		text += fmt.Sprintf("; a store that compares %s stops it (--guard %s)", compared[c.Guard], c.Guard)
	}
	return text
}

// compared has what a store with each guard compares before it accepts a write.
var compared = map[lockbench.Guard]string{lockbench.FenceGuard: "fences", lockbench.CompareGuard: "versions"}

// recommends returns the recommended lock, with its price.
func recommends(r *results.Recommendation) string {
	text := r.Design + ", the best of these: " + string(r.Word)
	if r.Price != "" {
		text += "; " + r.Price
	}
	return text
}

// scope returns notes on the conditions that the conclusions do not cover, and on the sources on
// which they rely.
func (s *summary) scope() *document.List {
	l := &document.List{}
	var unexplored, unknown []string
	var schedules int64
	for i := range s.result.Runs {
		run := &s.result.Runs[i]
		if run.Conclusion == nil {
			continue
		}
		if run.Search != nil && run.Exploration == nil {
			schedules += run.Search.Parts.Schedules()
			if run.Search.NotDone != "" {
				unexplored = append(unexplored, fmt.Sprintf("%s (%s)", s.lockName(run), run.Search.NotDone))
			}
		} else if run.Exploration == nil {
			unexplored = append(unexplored, s.lockName(run))
		}
		if run.Known != nil && run.Known.Missing != "" {
			unknown = append(unknown, fmt.Sprintf("%s (%s)", s.lockName(run), run.Known.Missing))
		}
	}
	add := func(word, text string) {
		l.Items = append(l.Items, document.Item{Word: word, Tone: document.None, Text: text})
	}
	if left := s.leftOut(); left != "" {
		add("left out:", left+"; --conditions all counts them too")
	}
	if schedules > 0 {
		add("explored:", figures.Plural(schedules, "schedule"))
	}
	if len(unexplored) > 0 {
		add("not explored:", shortly(unexplored))
	}
	if len(unknown) > 0 {
		add("not known:", shortly(unknown))
	}
	return l
}

// shortly returns the first few names in one phrase, with the number of the others. A number never stands
// for a single name.
func shortly(all []string) string {
	if len(all) <= fewRuns+1 {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:fewRuns], ", ") + fmt.Sprintf(", and %d more", len(all)-fewRuns)
}

// searchEvidence returns the breaches of claims that a search found, and the evidence for the
// conclusion: on a terminal only if there is one run.
func (s *summary) searchEvidence(run *results.Run, g *gallery) []document.Block {
	if run.Search == nil {
		return nil
	}
	shown := &document.Section{Title: "found by exploration"}
	var all []judgement
	found := run.Search.Parts.Together(false)
	for _, cell := range found.Broken() {
		f := found.At(cell)
		decides := run.Conclusion != nil && run.Conclusion.Source == conclusion.Explored && run.Conclusion.Cell == cell
		if f.Against > 0 || decides {
			all = append(all, judgement{cell, f, runReason(run, cell), run.AssumedClaims})
		}
		if decides && f.Against == 0 && len(s.result.Runs) > 1 {
			shown.Media = document.Page
		}
	}
	g.add(all)
	for i := range all {
		shown.Blocks = append(shown.Blocks, g.section(&all[i]))
	}
	if len(all) > 0 {
		shown.Blocks = append(shown.Blocks, again("explore it again:", run.Search.Parts.Shows(all[0].cell)))
	}
	return []document.Block{shown}
}

// headlined returns the conclusion that heads the whole report: on the only lock, or on the
// recommended lock of several.
func (s *summary) headlined() *document.Paragraph {
	say := func(word, text string) *document.Paragraph {
		return &document.Paragraph{Word: word, Text: text, Tone: s.headlineTone()}
	}
	if len(s.result.Locks()) == 1 {
		run := &s.result.Runs[slices.IndexFunc(s.result.Runs, func(r results.Run) bool { return r.Conclusion != nil })]
		return say(s.lockName(run)+": "+string(run.Conclusion.Word), because(run.Conclusion))
	}
	if r := s.result.Recommendation; r != nil {
		text := strings.TrimPrefix(recommends(r), r.Design+", ")
		for i := range s.result.Runs {
			if run := &s.result.Runs[i]; r.Of(run) && run.Conclusion != nil && len(run.Conclusion.Open) > 0 {
				text += "; tried too little: " + strings.Join(openTitles(run.Conclusion), ", ")
				break
			}
		}
		return say("Take "+r.Design, text)
	}
	usable := slices.ContainsFunc(s.result.Runs, func(r results.Run) bool { return r.Conclusion != nil && r.Conclusion.Recommended() })
	if !usable {
		return say("None of these can be recommended", "each has its reason")
	}
	return say("Each has its conclusion", "there is no choice among several, or no speed to choose by")
}

// headlineTone returns the tone of that conclusion: of the only lock, or bad if no lock is
// recommended and some lock is bad; else the tone of the exit code.
func (s *summary) headlineTone() document.Tone {
	tone := exitTone(s.result.Exit)
	for i := range s.result.Runs {
		if t := runTone(&s.result.Runs[i]); i == 0 && len(s.result.Locks()) == 1 || t == document.Bad && s.result.Recommendation == nil {
			tone = t
		}
	}
	if tone == document.Good && s.result.Recommendation != nil && s.result.Recommendation.Word == conclusion.NeedsGuard {
		return document.Weak
	}
	return tone
}
