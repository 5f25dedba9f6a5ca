package document

import (
	"slices"
	"time"
)

// A Document is a report.
type Document struct {
	// Kind names what it is of, Title what it is about, Version the lockbench that made it.
	Kind, Title, Version string
	// Conclusion is what a reader decides by, before the exit code; nil where there is none.
	Conclusion *Paragraph
	// Headline and Why say what came of it, as the exit code Exit does.
	Headline, Why string
	Exit          int
	Tone          Tone // of the headline
	// Beside is what the exit code does not say and a reader has to know; nil for nothing.
	Beside *Paragraph
	Blocks []Block
	// Brief documents go into papers as Markdown: their blocks alone.
	Brief bool
	// Footer says under what all this was made, for media that do not begin with it.
	Footer string
	// Series are what charts of a page draw, by the number of the run.
	Series []Series
	// Suites are the same for test reports; nil where a result has no cases.
	Suites []Suite
}

// A Tone is how words are coloured.
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

// String returns the name of the tone, as pages use it.
func (t Tone) String() string {
	return [...]string{"plain", "good", "bad", "weak", "none", "unclaimed"}[t]
}

// Media are sets of renderers.
type Media uint8

// The media.
const (
	Terminal Media = 1 << iota
	Markdown
	Page
)

// For reports whether what is for m, where the zero value is for all, is for medium.
func (m Media) For(medium Media) bool { return m == 0 || m&medium != 0 }

// A Block is a part of a document: *Section, *Paragraph, *List, *Table, *Chart or *Timeline.
type Block interface{ block() }

func (*Section) block()   {}
func (*Paragraph) block() {}
func (*List) block()      {}
func (*Table) block()     {}
func (*Chart) block()     {}
func (*Timeline) block()  {}

// A Role is what a section is within its document.
type Role uint8

// The roles.
const (
	Part     Role = iota // a part of the report
	Subject              // what is known of one design
	Evidence             // what shows one breach
	Cell                 // what is known of one cell, folded
	Found                // what one way of trying showed
	Charts               // charts beside each other
)

// A Length is how long a report has to be on a terminal for a section to be in it.
type Length uint8

// The lengths.
const (
	Any   Length = iota
	Whole        // where a report is as long as it is: in a file, through a pipe
	Short        // on a screen alone, in place of what is left out there
)

// Hides reports whether a section of this length is left out, on a screen or elsewhere.
func (l Length) Hides(screen bool) bool { return screen && l == Whole || !screen && l == Short }

// A Section is blocks under a title. Without a title it only says which media they are for.
type Section struct {
	// ID is what links lead to, empty for none. It is unique in a document.
	ID string
	// PageTitle stands for Title on pages, where sections are set apart by their titles.
	Title, PageTitle string
	// Says goes on after the title, such as "broke exclusion"; SaysTone colours it.
	Says string
	// PageSays stands for Says on pages, where a folded section says no more.
	PageSays string
	Tone     Tone // of the title
	SaysTone Tone
	Role     Role
	Mark     Tone // what came of a subject, at first sight
	// Folded sections show their title until a reader opens them, where that is possible.
	Folded bool
	Media  Media
	Length Length
	Blocks []Block
}

// Visible reports whether there is anything to see of b in a medium.
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

// Only are blocks for some media alone.
func Only(m Media, blocks ...Block) *Section { return &Section{Media: m, Blocks: blocks} }

// A Link leads to a section of the same document.
type Link struct{ Text, ID string }

// A Paragraph is a line of text.
type Paragraph struct {
	Word string // before the text: what kind of remark it is
	Tone Tone   // of the word, or of the text where there is no word
	Text string
	// Code is a command to type, after the text. Links come last.
	Code  string
	Links []Link
	// Facts are what a paragraph without Text has: settings and the like, said side by side.
	Facts []string
	// Strong is for the one sentence that matters.
	Strong bool
}

// A List is items below each other.
type List struct {
	Title string
	Items []Item
}

// An Item says something of a named thing: a word for what it is, its name, the rest.
type Item struct {
	Word string
	Sign string // goes with the word where there is room; empty for that of the tone
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
	// Wide tables are what happened, line by line: as wide as they are, however narrow the
	// terminal.
	Wide bool
	// Blank says on pages what stands in an empty place, where that means something.
	Blank string
	// Notes say how to read it, a sentence each.
	Notes []string
}

// A Column is one column of a table.
type Column struct {
	// Above stands over Name, as what several columns are of.
	Above, Name string
	Full        string // stands for Name on pages, turned: it is too long to stand there
	Number      bool   // aligned to the right
	Prose       bool   // its texts are phrases, in as many lines as they take
	// Spare columns go first where there is no room, the lowest before the others; zero stays.
	Spare int
	Apart bool // begins a group of columns
	Code  bool // its texts are commands
}

// Words are columns of text with these names.
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
	// Short stands for Name where there is no room; About explains it where there is.
	Short, About string
	Link         string  // the ID that the name leads to, empty for none
	Cells        []Value // one for each column
}

// A Value is what stands in one place of a table.
type Value struct {
	Text string
	// Short stands for Text where there is no room.
	Short string
	// Aside goes with the text: how sure it is, or the word for it.
	Aside string
	// Sign is drawn before the aside, where there is room.
	Sign string
	// Tone colours the aside, or else the text.
	Tone Tone
	// Note says more, for renderers that can show it beside.
	Note string
	Link string // the ID of the evidence, empty for none
	Dots *Dots
}

// Dots are the values behind a figure, one for each run of either side, for pages.
type Dots struct {
	Says, Low, High string // in words, and the ends of the scale
	Sides           []Side
}

// A Side is the values of one side, with their median and its interval, all as shares of the
// scale from 0 to 1.
type Side struct {
	Name     string
	Values   []float64
	Median   float64
	From, To float64
	Known    bool // the interval
}

// A Chart is a picture of figures that stand in tables, too.
type Chart struct {
	// Kind is how it is drawn: "rates" on a terminal, what charts.js knows on a page.
	Kind string
	// Subject is the ID of the section whose series it draws, empty for all.
	Subject        string
	Title, Caption string
	Says           string // in words
	Full           bool   // as wide as the page
	// X are the names of the points of Lines.
	X     []string
	Lines []Line
}

// A Line is one line of a chart.
type Line struct {
	Label  string
	Values []float64
}

// A Series is what a page draws of one run. Its JSON is read by charts.js.
type Series struct {
	Label string `json:"label"`
	Slow  bool   `json:"slow,omitempty"`
	// Hidden lines of a chart of many runs are drawn when a reader asks for them.
	Hidden   bool                    `json:"hidden,omitempty"`
	Spectra  map[string]Distribution `json:"spectra"`
	OverTime any                     `json:"over_time,omitempty"`
	// Verdicts say which of the violations over time are of claims.
	Verdicts map[string]string `json:"verdicts,omitempty"`
	Grants   []int64           `json:"grants_by_client,omitempty"`
	// Response: latencies count from the intended start. Settings are those that all share.
	Response bool     `json:"-"`
	Settings []string `json:"-"`
}

// A Distribution is what share of Count durations was not longer than so many ns. The two
// lists are as long as each other and rise.
type Distribution struct {
	Count  int64     `json:"count"`
	Shares []float64 `json:"shares"`
	NS     []int64   `json:"ns"`
}

// A Suite is what was asked of one design, for test reports.
type Suite struct {
	Name       string
	Cases      []Case
	Properties [][2]string // name and value
	Started    string      // RFC 3339, empty where it is not known
	Took       time.Duration
}

// A Case is one thing that was asked.
type Case struct {
	Name  string
	State State
	// Message says in one line what was found; Evidence shows it.
	Message  string
	Evidence []Block
	// Broken: a cell that the run itself broke, claimed or not, or that fails it.
	Broken bool
	// Occasions are those on which a cell was put to the test; Strength is what they are worth,
	// in a word, empty where nothing is known.
	Occasions int64
	Strength  string
	// Sources say what is known of it from where, by name.
	Sources [][2]string
}

// A State is what became of a case. Three colours cannot tell five verdicts apart, so green is
// for what was seen to hold, and what breaks no claim is skipped: a green "exclusion" beside a
// lock that was seen granted twice would be a lie.
type State uint8

// The states.
const (
	Erred   State = iota // inconclusive, which is never success
	Held                 // green
	Skipped              // nothing was promised: untested, or broken but not claimed
	Failed               // a claim was broken, or a threshold failed
)
