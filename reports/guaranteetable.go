package reports

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

const enough = conclusion.Enough

// tableNotes explain a table of guarantees.
var (
	enoughNote = fmt.Sprintf("ok: no violation on so many occasions, %d at least; weak: on fewer", enough)
	coverNote  = "ok: no violation on so many occasions; how far to rely on it is what was covered"
	noneNote   = "-: not for this design"
	worstNote  = "the worst of the five questions"
)

// A designCells holds the findings on one design for a table.
type designCells struct {
	results.Cells
	label    string
	explored bool
	assumed  bool                        // nobody states claims: see results.Run
	id       string                      // of the section about the design
	link     func(lockbench.Cell) string // returns the ID of the evidence for a broken cell
	others   []otherCells                // findings of other sources on the design
}

// An otherCells holds the findings of another source on the design. mark is the mark of the source
// in tables.
type otherCells struct {
	mark  string
	cells designCells
}

// The marks of other sources.
const (
	markExplored = "^"
	markKnown    = "*"
)

// otherNotes returns notes that explain the marks of the sources that occur.
func otherNotes(designs []designCells) (notes []string) {
	for _, mark := range []struct{ mark, note string }{{markExplored, "found by exploration, in virtual time"}, {markKnown, "known: the released matrix has it"}} {
		if slices.ContainsFunc(designs, func(d designCells) bool {
			return slices.ContainsFunc(d.others, func(o otherCells) bool { return o.mark == mark.mark })
		}) {
			notes = append(notes, mark.mark+": "+mark.note)
		}
	}
	return notes
}

// value returns the answer to a question under some conditions. It is the answer of the run itself,
// unless another source found a breach, or if it alone tested often enough.
func (d designCells) value(q checker.Question, under lockbench.Conditions) document.Value {
	own := d.answer(q, under)
	word, _ := own.word(d.explored)
	value := d.linked(own.value(d.explored), own.about)
	for _, o := range d.others {
		a := o.cells.answer(q, under)
		other, tone := a.word(o.cells.explored)
		if strengthRank[other] > strengthRank[word] {
			value = document.Value{Text: other + o.mark, Tone: tone, Note: a.note}
			word = other
		}
	}
	return value
}

// strengthRank orders the words by their weight as evidence, for answers of several sources: "ok"
// outranks "weak".
var strengthRank = map[string]int{wordNone: 0, wordNotTried: 1, wordWeak: 2, wordOK: 3, wordUnclaim: 4, wordBroken: 5}

// table returns the table of one design, with a row for each condition that occurred or was
// exercised and a column for each of the five questions. A mixture of conditions has a row if it
// broke a guarantee that none of its members breaks.
func (d designCells) table() document.Table {
	t := document.Table{Corner: d.label, Notes: []string{enoughNote, d.brokenNote(), noneNote}}
	if d.explored {
		t.Notes[0] = coverNote
	}
	t.Notes = append(t.Notes, otherNotes([]designCells{d})...)
	for q := range checker.Questions {
		t.Columns = append(t.Columns, document.Column{Name: q.String()})
	}
	for _, under := range d.rows() {
		row := document.Row{Name: under.Title(), Short: under.String()}
		if under == 0 {
			row.Short = "nothing"
		}
		for q := range checker.Questions {
			row.Cells = append(row.Cells, d.value(q, under))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (d designCells) brokenNote() string {
	if d.assumed {
		return "BROKEN: violations of occasions, and " + claimed(true) + "; broken: it need not"
	}
	return "BROKEN: violations of occasions, and " + claimed(false) + "; broken: it does not claim it"
}

// rows returns the conditions of the rows of a table.
func (d designCells) rows() []lockbench.Conditions {
	rows := []lockbench.Conditions{0}
	for _, one := range lockbench.AllConditions() {
		if d.hasFinding(one.Condition) {
			rows = append(rows, one.Condition)
		}
	}
	seen := make(map[lockbench.Conditions]bool)
	for _, cell := range d.Sorted() {
		if cell.Under.Count() > 1 && !seen[cell.Under] && d.onlyMixed(cell.Under) {
			seen[cell.Under] = true
			rows = append(rows, cell.Under)
		}
	}
	return rows
}

// onlyMixed reports whether these conditions together broke a guarantee that none of them broke
// alone.
func (d designCells) onlyMixed(under lockbench.Conditions) bool {
	for q := range checker.Questions {
		mixed := d.answer(q, under)
		if mixed.violations == 0 {
			continue
		}
		alone := false
		for _, one := range append(under.Each(), 0) {
			other := d.answer(q, one)
			alone = alone || other.violations > 0 && (other.fails || !mixed.fails)
		}
		if !alone {
			return true
		}
	}
	return false
}

// A questionAnswer sums up the findings on a question under some conditions.
type questionAnswer struct {
	// occasions counts the occasions without a violation that the conditions touched, among others
	// or alone. violations and tried count those that exactly these conditions touched.
	occasions, violations, tried int64
	doubted                      int64 // number of occasions that do not count as evidence
	fails                        bool
	foreign                      bool           // the conditions do not apply to the design
	about                        lockbench.Cell // the gravest cell
	note                         string
	overlap                      float64 // the longest past validity, ns; 0 if two owners were also within it at once
}

func (d designCells) answer(q checker.Question, under lockbench.Conditions) questionAnswer {
	a := questionAnswer{foreign: true}
	for _, info := range lockbench.Guarantees() {
		cell := info.Name.At(under)
		f := d.At(cell)
		broke := f.Asked(info.Name)[q]
		if broke > 0 && f.Verdict == checker.Broken {
			a.broken(cell, &f, broke)
		}
		if checker.Asks(info.Name) != q {
			continue
		}
		if d.At(info.Name.At(0)).Verdict != checker.NotApplicable {
			a.foreign = false
		}
		a.occasions = checker.AddOccasions(under, a.occasions, d.Exposure(cell, checker.Held))
		a.doubted = checker.AddOccasions(under, a.doubted, d.Exposure(cell, checker.Untested))
	}
	return a
}

// broken adds violations of a cell.
func (a *questionAnswer) broken(cell lockbench.Cell, f *results.Finding, n int64) {
	a.violations += n
	a.tried += f.Exposure
	a.foreign = false
	if a.about.Guarantee == "" || f.Fails() && !a.fails {
		a.about, a.note = cell, f.Note
		if f.Counterexample != nil {
			a.note = f.Counterexample.Sentence
		}
	}
	a.fails = a.fails || f.Fails()
	// An overlap within the validity of both owners is graver than work past a lease.
	if worst, measured := f.Measures["overlap_max_ns"]; measured && !f.Fails() && float64(f.Violations) == f.Measures["overlap_count"] {
		a.overlap = worst
	}
}

// The words in tables.
const (
	wordBroken   = "BROKEN" // a claim
	wordUnclaim  = "broken"
	wordWeak     = "weak"
	wordOK       = "ok"
	wordNone     = "-"
	wordNotTried = "not tried"
)

// word returns the answer in a word.
func (a *questionAnswer) word(explored bool) (string, document.Tone) {
	switch {
	case a.fails:
		return wordBroken, document.Bad
	case a.violations > 0:
		return wordUnclaim, document.Weak
	case a.occasions >= enough, a.occasions > 0 && explored:
		return wordOK, document.Good
	case a.occasions > 0, a.doubted > 0:
		return wordWeak, document.Weak
	case a.foreign:
		return wordNone, document.None
	}
	return wordNotTried, document.None
}

// value returns the answer as a value of a table.
func (a questionAnswer) value(explored bool) document.Value {
	word, tone := a.word(explored)
	c := document.Value{Text: word, Tone: tone, Note: a.note}
	switch {
	case a.violations > 0 && !a.fails && a.overlap > 0 && a.about.Under == lockbench.Outlived:
		c.Text = "by " + figures.Compact(int64(a.overlap))
	case a.violations > 0 && explored:
		c.Text = word + " " + figures.Number(a.violations)
		c.Short = word + " " + figures.Few(a.violations)
	case a.violations > 0:
		c.Text = fmt.Sprintf("%s %s/%s", word, figures.Number(a.violations), figures.Number(a.tried))
		c.Short = word + " " + figures.Few(a.violations)
	case a.occasions > 0, a.doubted > 0:
		n := a.occasions
		if n == 0 {
			n = a.doubted
		}
		c.Text, c.Short = word+" "+figures.Number(n), word+" "+figures.Few(n)
	}
	return c
}

// linked links a value to the evidence for its cell.
func (d designCells) linked(v document.Value, about lockbench.Cell) document.Value {
	if d.link != nil && about.Guarantee != "" {
		v.Link = d.link(about)
	}
	return v
}

// gravity orders the words from the mildest to the worst. It decides the word for several questions
// together. For them "weak" is worse than "ok".
var gravity = map[string]int{wordNone: 0, wordNotTried: 1, wordOK: 2, wordWeak: 3, wordUnclaim: 4, wordBroken: 5}

// designTable returns a table with a row for each design and a column for each condition that
// occurred to some of them. A value is the worst answer to any question.
func designTable(designs []designCells) document.Table {
	t := document.Table{Corner: "design", Blank: wordNotTried, Notes: []string{
		worstNote,
		"BROKEN: a claim is broken; broken: what the design does not claim",
	}}
	if slices.ContainsFunc(designs, func(d designCells) bool { return !d.explored }) {
		t.Notes = append(t.Notes, fmt.Sprintf("weak: something met fewer than %d occasions", enough))
	}
	t.Notes = append(append(t.Notes, "empty: not tried"), otherNotes(designs)...)
	for _, d := range designs {
		t.Rows = append(t.Rows, document.Row{Name: d.label, Link: d.id})
	}
	column(&t, "no fault", 0, designs)
	for _, one := range lockbench.AllConditions() {
		column(&t, one.Name, one.Condition, designs)
	}
	return t
}

// column adds a column with each design's worst answer under a condition, if there is any.
func column(t *document.Table, name string, under lockbench.Conditions, designs []designCells) {
	var cells []document.Value
	for _, d := range designs {
		cells = append(cells, d.worst(under))
	}
	if under != 0 && !slices.ContainsFunc(cells, func(c document.Value) bool { return c.Text != "" }) {
		return
	}
	t.Columns = append(t.Columns, document.Column{Name: name, Full: under.Title()})
	for i := range t.Rows {
		t.Rows[i].Cells = append(t.Rows[i].Cells, cells[i])
	}
}

// hasFinding reports whether there is a finding under a condition.
func (d designCells) hasFinding(one lockbench.Conditions) bool {
	for cell, f := range d.Cells.Cells {
		if cell.Under.Has(one) && (f.Exercised || f.Exposure > 0) {
			return true
		}
	}
	return slices.ContainsFunc(d.others, func(o otherCells) bool { return o.cells.hasFinding(one) })
}

// worst returns the gravest answer to any question under a condition. A breach by a mixture of
// conditions counts for each of its members.
func (d designCells) worst(under lockbench.Conditions) document.Value {
	best := document.Value{Text: wordNotTried, Tone: document.None}
	for q := range checker.Questions {
		a := d.answer(q, under)
		word, tone := a.word(d.explored)
		if gravity[word] > gravity[best.Text] {
			best = d.linked(document.Value{Text: word, Tone: tone}, a.about)
			best.Note = q.String()
			if a.note != "" {
				best.Note += ": " + a.note
			}
		}
	}
	for _, cell := range d.Broken() {
		f := d.At(cell)
		word, tone := wordUnclaim, document.Weak
		if f.Fails() {
			word, tone = wordBroken, document.Bad
		}
		if under != 0 && cell.Under.Count() > 1 && cell.Under.Has(under) && gravity[word] > gravity[best.Text] && d.onlyMixed(cell.Under) {
			best = d.linked(document.Value{Text: word, Tone: tone, Note: cell.Under.Title()}, cell)
		}
	}
	best = d.worstOf(best, under)
	if best.Text == wordNotTried {
		best.Text = ""
	}
	return best
}

// worstOf returns the graver of the run's own answer under a condition and the answers of other
// sources.
func (d designCells) worstOf(own document.Value, under lockbench.Conditions) document.Value {
	word := own.Text
	for _, o := range d.others {
		if other := o.cells.worst(under); strengthRank[other.Text] > strengthRank[word] {
			word = other.Text
			own = document.Value{Text: other.Text + o.mark, Tone: other.Tone, Note: other.Note}
		}
	}
	return own
}

// resultGuarantees returns the table of the findings of r: the table of a single design, or a row
// for each of several designs.
func resultGuarantees(r *results.Result) document.Table {
	var all []designCells
	for i, label := range labels(r) {
		all = append(all, resultCells(r, i, label))
	}
	if len(all) == 1 {
		return all[0].table()
	}
	return designTable(all)
}

// resultCells returns the findings of the i-th run, under a label.
func resultCells(r *results.Result, i int, label string) designCells {
	run := &r.Runs[i]
	return designCells{
		Cells: run.Cells, label: label, explored: run.Exploration != nil, assumed: run.AssumedClaims, id: runID(i),
		link: (&gallery{id: runID(i)}).idOf, others: othersOf(run),
	}
}

// othersOf returns the findings of other sources on the design of a run.
func othersOf(run *results.Run) (all []otherCells) {
	add := func(mark string, parts results.Parts, explored bool) {
		if cells := parts.Together(false); !cells.IsZero() {
			all = append(all, otherCells{mark, designCells{Cells: cells, explored: explored}})
		}
	}
	if s := run.Search; s != nil {
		add(markExplored, s.Parts, true)
	}
	if k := run.Known; k != nil {
		add(markKnown, k.Parts, false)
	}
	return all
}
