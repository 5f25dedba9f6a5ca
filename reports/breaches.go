package reports

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// A judgement is the finding on one cell in the form that reports show, from any source.
type judgement struct {
	cell lockbench.Cell
	results.Finding
	// reason says why the cell is not claimed, empty if it is claimed or no reason is known.
	reason string
	// assumed reports that the history states no claims, see [results.Run].
	assumed bool
}

func runJudgement(r *results.Run, cell lockbench.Cell) judgement {
	return judgement{cell, r.Cells.At(cell), runReason(r, cell), r.AssumedClaims}
}

// claimed returns the reason why a broken cell counts. assumed reports that nobody stated claims.
func claimed(assumed bool) string {
	if assumed {
		return "a lease lock can keep it"
	}
	return "the design claims it"
}

// item returns the breach as one item of a list; none if the guarantee breaks under fewer
// conditions already.
func (j *judgement) item() []document.Item {
	if j.Schedule == nil && !j.Fails() {
		return nil
	}
	text := figures.Plural(j.Violations, "schedule")
	if j.Counterexample != nil && j.Counterexample.Sentence != "" {
		text += ": " + j.Counterexample.Sentence
	}
	if j.Fails() {
		text = "CLAIMED; " + text
	}
	return []document.Item{{Name: j.cell.String(), Text: text}}
}

// sentence returns the breach in one line: how often the cell broke, and the events of one case.
func (j *judgement) sentence() string {
	text := figures.Number(j.Violations) + " of " + figures.Plural(j.Exposure, "occasion")
	if j.Counterexample != nil && j.Counterexample.Sentence != "" {
		text += ": " + j.Counterexample.Sentence
	}
	return text
}

// verdictWords returns the verdict in words.
func verdictWords(f results.Finding) string {
	if f.Verdict == checker.Untested && !f.Exercised {
		return "not exercised"
	}
	return f.Verdict.String()
}

// findingTone returns the colour of a verdict.
func findingTone(f *results.Finding) document.Tone {
	switch {
	case f.Fails():
		return document.Bad
	case f.Verdict == checker.Broken:
		return document.Unclaimed
	case f.Verdict == checker.Held:
		return document.Good
	case f.Verdict == checker.Untested && f.Exercised:
		return document.Weak
	}
	return document.None
}

// text returns the verdict with the claim, and the counts.
func (j *judgement) text() string {
	claim := "not claimed"
	switch {
	case j.Fails():
		claim = "claimed"
	case j.Accepted != nil:
		claim = "claimed, " + j.Accepted.String()
	case j.Verdict == checker.Broken && j.reason != "":
		claim = "not claimed: " + j.reason
	case j.Claimed:
		claim = "claimed"
	}
	return joinedBy("; ", verdictWords(j.Finding)+", "+claim, detail(j.Finding))
}

// drawnAs reports whether f and other have the same operations or steps as evidence.
func drawnAs(f *results.Finding, other *results.Finding) bool {
	if f.Schedule != nil || other.Schedule != nil {
		return f.Schedule != nil && other.Schedule != nil && reflect.DeepEqual(f.Schedule.Steps, other.Schedule.Steps)
	}
	return reflect.DeepEqual(f.Counterexample.Holds, other.Counterexample.Holds) && reflect.DeepEqual(f.Counterexample.Ops, other.Counterexample.Ops)
}

// hidesPicture reports whether a terminal leaves out the picture of a breach because it is
// expected: a lease ended before the work did, and the design does not claim otherwise.
func (g *gallery) hidesPicture(j *judgement) bool {
	return !g.inFull && j.Against == 0 && (j.cell.Under &^ j.cell.Guarantee.Info().About).Has(lockbench.Outlived)
}

// A gallery collects the breaches of one design to draw, each picture once.
type gallery struct {
	id     string // of the design; empty if there are no links to the evidence
	design string
	label  string // of the run, if there are several of a design
	drawn  []picture
	inFull bool // a terminal draws expected breaches, too
}

// A picture is a finding that is drawn.
type picture struct {
	id, name string
	results.Finding
}

// add adds the pictures of cells: first the pictures for all media, then the pictures that a
// terminal leaves out.
func (g *gallery) add(all []judgement) {
	for _, spared := range []bool{false, true} {
		for i := range all {
			if j := &all[i]; j.Drawable() && g.hidesPicture(j) == spared && g.shows(&j.Finding) == nil {
				g.drawn = append(g.drawn, picture{g.idOf(j.cell), j.cell.String(), j.Finding})
			}
		}
	}
}

// shows returns the picture of a finding, nil if there is none.
func (g *gallery) shows(f *results.Finding) *picture {
	for i := range g.drawn {
		if drawnAs(&g.drawn[i].Finding, f) {
			return &g.drawn[i]
		}
	}
	return nil
}

func (g *gallery) idOf(cell lockbench.Cell) string {
	if g.id == "" {
		return ""
	}
	return g.id + "-" + strings.NewReplacer("@", "-at-", "+", "-and-").Replace(cell.String())
}

// section returns the evidence that a cell is broken.
func (g *gallery) section(j *judgement) *document.Section {
	s := &document.Section{
		ID: g.idOf(j.cell), Role: document.Evidence, Title: j.cell.String() + ", " + j.cell.Under.Title(), Tone: findingTone(&j.Finding),
		Blocks: []document.Block{j.claim()},
	}
	if len(j.Scenarios) > 0 {
		s.Blocks = append(s.Blocks, line("by "+figures.Plural(j.Violations, "schedule")+" in "+strings.Join(j.Scenarios, ", ")))
	} else {
		s.Blocks = append(s.Blocks, line(detail(j.Finding)))
	}
	s.Blocks = append(s.Blocks, document.Only(document.Page, line("Promise: "+j.cell.Guarantee.Info().Promise+".")))
	s.Blocks = append(s.Blocks, g.counterexample(s.ID, j, scenario(j.Finding))...)
	if len(j.Scenarios) > 0 && j.Note != "" {
		s.Blocks = append(s.Blocks, line(j.Note))
	}
	if j.Schedule != nil && j.Schedule.File != "" {
		command := strings.TrimSpace("lockbench explore " + j.Schedule.Arguments)
		s.Blocks = append(s.Blocks, again("run it again:", command+" --replay "+results.Quote(j.Schedule.File)))
	}
	return s
}

// counterexample returns the events in one sentence, and a picture, unless another cell has
// the same.
func (g *gallery) counterexample(id string, j *judgement, scenario string) []document.Block {
	w := j.Counterexample
	var blocks []document.Block
	if w != nil && w.Sentence != "" {
		blocks = append(blocks, &document.Paragraph{Text: w.Sentence, Strong: true})
	}
	if !j.Drawable() {
		return blocks
	}
	if p := g.shows(&j.Finding); p != nil && p.id != id {
		return append(blocks, &document.Paragraph{Text: "by the " + p.what() + " shown for", Links: []document.Link{{Text: p.name, ID: p.id}}})
	}
	if j.Schedule != nil {
		t := stepsTimeline(onePage(j.Schedule.Steps), id)
		g.name(t, j)
		return append(blocks, scheduleBlocks(j.Schedule, t, scenario)...)
	}
	t := newTimeline(w, id)
	g.name(t, j)
	drawn := []document.Block{line(fmt.Sprintf("key %s, times since the start of the run%s", w.Key, margin(int64(w.Margin)))), t}
	if g.hidesPicture(j) {
		drawn = []document.Block{document.Only(document.Page, drawn...)}
	}
	return append(blocks, drawn...)
}

// name sets the title and the description that a timeline needs in a file of its own.
func (g *gallery) name(t *document.Timeline, j *judgement) {
	t.Name = g.design + "." + j.cell.String()
	t.Title = fmt.Sprintf("%s: %s, %s, %s", g.label, j.cell, verdictWords(j.Finding), claimedWord(j.Claimed))
	if w := j.Counterexample; w != nil {
		t.About, t.Margin = w.Sentence, strings.TrimPrefix(margin(int64(w.Margin)), "; margin ")
	}
}

func claimedWord(claimed bool) string {
	if claimed {
		return "claimed"
	}
	return "not claimed"
}

func (p *picture) what() string {
	if p.Schedule != nil {
		return "steps"
	}
	return "operations"
}

func line(text string) *document.Paragraph { return &document.Paragraph{Text: text} }

func again(how, command string) *document.Paragraph {
	return &document.Paragraph{Text: how, Code: command}
}

// claim returns a paragraph on whether the broken cell is claimed and, if not, why.
func (j *judgement) claim() *document.Paragraph {
	switch {
	case j.Fails():
		p := &document.Paragraph{Word: strings.ToUpper(claimed(j.assumed)), Tone: document.Bad}
		if j.assumed {
			p.Text = "(the history states no claims; --claims gives them)"
		}
		return p
	case j.Accepted != nil:
		return &document.Paragraph{Word: "claimed, and", Tone: document.Weak, Text: j.Accepted.String()}
	case j.reason != "":
		return &document.Paragraph{Word: "not claimed:", Tone: document.Weak, Text: j.reason}
	}
	return &document.Paragraph{Word: "not claimed", Tone: document.Weak}
}

// scenario returns the name of the scenario of g's schedule.
func scenario(g results.Finding) string {
	if len(g.Scenarios) == 0 {
		return "scenario unknown"
	}
	return "scenario " + g.Scenarios[0]
}

// runReason returns the reason why a breach does not count against the claims; empty if it does
// count, or if no reason is known.
func runReason(r *results.Run, cell lockbench.Cell) string {
	f := r.Cells.At(cell)
	if f.Accepted != nil {
		return f.Accepted.String()
	}
	if why := results.Reason(&r.Claims, cell); why != "" || f.Verdict != checker.Broken || f.Fails() {
		return why
	}
	if f.Counterexample != nil {
		for _, g := range f.Counterexample.Breaks {
			if why := results.Reason(&r.Claims, g.At(cell.Under)); why != "" {
				return fmt.Sprintf("it may be %s that was broken, and %s", g, why)
			}
		}
	}
	return excused
}

// excused is the reason for a broken claim that an exception excuses although the conditions of the
// exception did not touch it.
const excused = "an exception covers what came after it"

// recheck returns the command that judges the history of a run again, or a hint on how to keep the
// history.
func recheck(r *results.Run) *document.Paragraph {
	if r.History == "" {
		return again("check it again:", "the history was not kept; --history DIR keeps it")
	}
	return again("check it again:", check(r))
}

// check returns the command that judges the history of a run, or the histories of its machines.
func check(r *results.Run) string {
	if len(r.Together) == 0 {
		return "lockbench check " + results.Quote(r.History)
	}
	command := "lockbench check --together"
	for _, path := range r.Together {
		command += " " + results.Quote(path)
	}
	return command
}

// shownBy returns a hint on how to see the evidence that a brief report leaves out.
func shownBy(r *results.Run) *document.Paragraph {
	if r.History == "" {
		return line("--evidence all shows how; --history DIR keeps the history")
	}
	return again("shown by:", check(r)+" --evidence all")
}

// margin formats the size of a breach in ns; empty if it is zero or, for a lock without a lease,
// infinite.
func margin(ns int64) string {
	if ns >= int64(10_000*time.Hour) {
		return ""
	}
	return after("; margin ", ns)
}

// detail returns the counts of a verdict, then its note.
func detail(g results.Finding) string {
	var parts []string
	switch {
	case g.Exposure == 0 && g.Violations == 0:
	case g.Scenarios != nil: // in explorations, violations are schedules
		parts = append(parts, "in "+figures.Plural(g.Violations, "schedule")+", "+figures.Plural(g.Exposure, "occasion"))
	default:
		parts = append(parts, figures.Number(g.Violations)+" of "+figures.Plural(g.Exposure, "occasion"))
	}
	if m := figures.Measures(g.Measures); m != "" {
		parts = append(parts, m)
	}
	if g.Note != "" {
		parts = append(parts, g.Note)
	}
	return strings.Join(parts, "; ")
}

func joinedBy(by, what, more string) string {
	if more == "" {
		return what
	}
	return what + by + more
}
