package document

import (
	"slices"
	"time"
)

// A Document is a report, independent of the medium it is rendered to.
type Document struct {
	// Kind is the kind of report, Title its subject, Version the lockbench that made the
	// result.
	Kind, Title, Version string
	// Conclusion gives the decision before the exit code does; nil for none.
	Conclusion *Paragraph
	// Headline and Why state the outcome in words, and Exit as an exit code.
	Headline, Why string
	Exit          int
	Tone          Tone // of the headline
	// Beside adds the facts that a reader needs beside the exit code; nil for none.
	Beside *Paragraph
	Blocks []Block
	// Brief makes Markdown leave out everything but the blocks, as papers need it.
	Brief bool
	// Footer states the conditions of the measurement, for media that do not begin with them.
	Footer string
	// Series are the data of a page's charts, indexed by the number of the run.
	Series []Series
	// Suites are the results as test cases, for test reports; nil for a result without cases.
	Suites []Suite
}

// A Tone is the meaning that a renderer expresses by a colour.
type Tone uint8

// The tones.
const (
	Plain Tone = iota
	Good
	Bad       // fails the run
	Weak      // not enough, or not claimed
	None      // says nothing
	Unclaimed // broken, and not claimed
)

// String returns the name of the tone, which pages use as a class.
func (t Tone) String() string {
	return [...]string{"plain", "good", "bad", "weak", "none", "unclaimed"}[t]
}

// A Media is a set of renderers.
type Media uint8

// The media.
const (
	Terminal Media = 1 << iota
	Markdown
	Page
)

// For reports whether a block for m belongs in medium. The zero value of m stands for all
// media.
func (m Media) For(medium Media) bool { return m == 0 || m&medium != 0 }

// A Block is a part of a document: *Section, *Paragraph, *List, *Table, *Chart or *Timeline.
type Block interface{ block() }

func (*Section) block()   {}
func (*Paragraph) block() {}
func (*List) block()      {}
func (*Table) block()     {}
func (*Chart) block()     {}
func (*Timeline) block()  {}

// A Role is the purpose of a section in its document.
type Role uint8

// The roles.
const (
	Part     Role = iota // a part of the report
	Subject              // all findings on one design
	Evidence             // the evidence for one breach
	Cell                 // the findings on one cell, folded
	Found                // the findings of one driver
	Charts               // charts beside each other
)

// A Length says which reports contain a section or a column: all, whole ones, or brief ones.
type Length uint8

// The lengths.
const (
	Any   Length = iota
	Whole        // left out of a brief report
	Short        // in a brief report alone, in place of a Whole section
)

// Hides reports whether a section or a column of this length is left out of a report that is brief, or
// of one that is not.
func (l Length) Hides(brief bool) bool { return brief && l == Whole || !brief && l == Short }

// A Section is a list of blocks under a title. A section without a title serves only to choose
// the media.
type Section struct {
	// ID is the target of links, empty for none. It is unique in a document.
	ID string
	// PageTitle replaces Title on pages, where every section needs a title.
	Title, PageTitle string
	// Says is the text after the title, as "broke exclusion"; SaysTone colours it.
	Says string
	// PageSays replaces Says on pages, for folded sections that need a shorter text.
	PageSays string
	Tone     Tone // of the title
	SaysTone Tone
	Role     Role
	Mark     Tone // the outcome of a subject, at first sight
	// Folded sections show only their title until a reader opens them, if the medium can.
	Folded bool
	Media  Media
	Length Length
	Blocks []Block
}

// Visible reports whether b shows anything in medium m.
func Visible(b Block, m Media) bool {
	switch b := b.(type) {
	case *Section:
		return b.Media.For(m) && slices.ContainsFunc(b.Blocks, func(child Block) bool { return Visible(child, m) })
	case *List:
		return len(b.Items) > 0
	case *Table:
		return len(b.Columns) > 0 || len(b.Notes) > 0
	case *Chart:
		return (m == Page) == (len(b.Lines) == 0)
	case *Timeline:
		return len(b.Entries) > 0 && m != Page || b.Drawable()
	}
	return true
}

// Only returns a section that is shown in the media m alone.
func Only(m Media, blocks ...Block) *Section { return &Section{Media: m, Blocks: blocks} }

// A Link leads to a section of the same document.
type Link struct{ Text, ID string }

// A Paragraph is a line of text.
type Paragraph struct {
	Word string // stands before the text and names the kind of remark
	Tone Tone   // of the word, or of the text if there is no word
	Text string
	// Code is a command to type; it follows the text. Links come last.
	Code  string
	Links []Link
	// Facts replace Text: settings and the like, side by side.
	Facts []string
	// Strong marks the one sentence that matters.
	Strong bool
}

// A List is a list of items, one below the other.
type List struct {
	Title string
	Items []Item
}

// An Item states something about a named thing: a word for its kind, its name, the rest.
type Item struct {
	Word string
	Sign string // stands before the word if there is room; empty for the sign of the tone
	Tone Tone   // of the word
	Name string
	Text string
	Link string // the ID that the word leads to, empty for none
}

// A Table has names down and columns across.
type Table struct {
	Title   string
	Corner  string // the head of the first column
	Columns []Column
	Rows    []Row
	// Wide marks a table that is a log, with a line for each event. Its lines are never shortened,
	// however narrow the terminal.
	Wide bool
	// Blank is the text that pages show in an empty cell; empty if blanks mean nothing.
	Blank string
	// Notes explain the table, one sentence each.
	Notes []string
}

// A Column is one column of a table.
type Column struct {
	// Above stands over Name and is common to several columns.
	Above, Name string
	Full        string // replaces Name on pages, turned by 90 degrees for its length
	Number      bool   // aligned to the right
	Prose       bool   // its texts are phrases and may wrap
	// Spare is the order in which columns are dropped when space is short, the lowest number first.
	// A column with zero is never dropped.
	Spare  int
	Length Length
	Apart  bool // begins a group of columns
	Code   bool // its texts are commands
}

// Words returns text columns with these names.
func Words(names ...string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}

// A Row is one line of a table.
type Row struct {
	Name string
	// Short replaces Name when space is short; About explains it otherwise.
	Short, About string
	Link         string  // the ID that the name leads to, empty for none
	Cells        []Value // one for each column
}

// A Value is the content of one cell of a table.
type Value struct {
	Text string
	// Short replaces Text when space is short.
	Short string
	// Aside follows the text: its uncertainty, or a word for it.
	Aside string
	// Sign is a mark that is shown before Aside if there is room.
	Sign string
	// Tone colours Aside, or Text if there is no Aside.
	Tone Tone
	// Note is an explanation, for renderers that can show one on demand.
	Note string
	Link string // the ID of the evidence, empty for none
	Dots *Dots
}

// Dots are the values of a figure in every run of either side. Only pages draw them.
type Dots struct {
	Says, Low, High string // in words, and the ends of the scale
	Sides           []Side
}

// A Side has the values of one side of a comparison, with their median and its interval. All
// are fractions of the scale, from 0 to 1.
type Side struct {
	Name     string
	Values   []float64
	Median   float64
	From, To float64
	Known    bool // From and To are
}

// A Chart draws figures that also stand in tables.
type Chart struct {
	// Kind is the type of drawing: "rates" on a terminal, a name that charts.js knows on a
	// page.
	Kind string
	// Subject is the ID of the section with the runs to draw, empty for all runs.
	Subject        string
	Title, Caption string
	Says           string // in words
	Full           bool   // as wide as the page
	// X has the names of the points of Lines.
	X     []string
	Lines []Line
}

// A Line is one line of a chart.
type Line struct {
	Label  string
	Values []float64
}

// A Series has the data of one run for the charts of a page. charts.js reads its JSON.
type Series struct {
	Label string `json:"label"`
	Slow  bool   `json:"slow,omitempty"`
	// Hidden makes the chart draw the line only when a reader asks for it, because a chart of all
	// runs would be too full.
	Hidden   bool                    `json:"hidden,omitempty"`
	Spectra  map[string]Distribution `json:"spectra"`
	OverTime any                     `json:"over_time,omitempty"`
	// Verdicts tell, for each cell with violations over time, whether they break a claim.
	Verdicts map[string]string `json:"verdicts,omitempty"`
	Grants   []int64           `json:"grants_by_client,omitempty"`
	// Response reports whether latencies count from the intended start. Settings are common to all
	// lines.
	Response bool     `json:"-"`
	Settings []string `json:"-"`
}

// A Distribution gives the quantiles of Count durations: the fraction Shares[i] of them took
// NS[i] nanoseconds at most. Both lists have the same length and rise.
type Distribution struct {
	Count  int64     `json:"count"`
	Shares []float64 `json:"shares"`
	NS     []int64   `json:"ns"`
}

// A Suite has the test cases of one design, for test reports.
type Suite struct {
	Name       string
	Cases      []Case
	Properties [][2]string // name and value
	Started    string      // RFC 3339, empty if unknown
	Took       time.Duration
}

// A Case is one test of a design with its outcome, such as the verdict on one cell.
type Case struct {
	Name  string
	State State
	// Message is the finding in one line; Evidence supports it.
	Message  string
	Evidence []Block
	// Broken reports whether the run broke the cell, claimed or not, or the cell fails the run.
	Broken bool
	// Occasions counts the occasions that put a cell to the test. Strength is a word for their
	// weight as evidence, empty if nothing is known.
	Occasions int64
	Strength  string
	// Sources has the name and the finding of each source.
	Sources [][2]string
}

// A State is the outcome of a case. Test reports have fewer colours than there are verdicts: green
// is only for a cell that was put to the test and held. A breach of a cell that is not claimed is
// skipped; green would hide it.
type State uint8

// The states.
const (
	Erred   State = iota // inconclusive, which is never success
	Held                 // green
	Skipped              // nothing was promised: untested, or broken but not claimed
	Failed               // a claim was broken, or a threshold failed
)
