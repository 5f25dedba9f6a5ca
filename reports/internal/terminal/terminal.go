// Package terminal writes a document as text for people: the findings from top to bottom, and
// the outcome in the last line. Colours only repeat the meaning of the words.
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/lockbench/lockbench/internal/lib/wrap"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// Options describe the terminal or file that a report is written to.
type Options struct {
	// Color allows colours. They only repeat the meaning of the text.
	Color bool
	// Width is the width of the terminal in characters; zero or less is unlimited. Tables drop
	// their least important columns to fit.
	Width int
	// Brief leaves out the sections and columns of length Whole.
	Brief bool
	// Failed reports whether the command ends in an error, whatever the exit code of the document.
	Failed bool
}

// Write writes d, with its outcome at the end. It returns the first error of w.
func Write(w io.Writer, d *document.Document, opt Options) error {
	p := newPage(w, opt)
	p.blocks(d.Blocks, 0)
	if d.Headline != "" {
		if p.begun {
			fmt.Fprintln(p.Writer)
		}
		if c := d.Conclusion; c != nil {
			p.prose(0, 2, p.tone(c.Tone, c.Word)+": "+c.Text)
		}
		p.outcome(d, opt.Failed)
	}
	return p.Flush()
}

// Blocks writes blocks without a report around them. It returns the first error of w.
func Blocks(w io.Writer, blocks []document.Block, opt Options) error {
	p := newPage(w, opt)
	p.blocks(blocks, 0)
	return p.Flush()
}

// Text returns blocks as plain text.
func Text(blocks []document.Block) string {
	var text strings.Builder
	_ = Blocks(&text, blocks, Options{}) // a Builder never fails
	return strings.Trim(text.String(), "\n")
}

// A page is a report being written; its Writer keeps the first error.
type page struct {
	*bufio.Writer
	palette
	width int
	brief bool
	last  document.Block // the block written last; nil for none or a title
	begun bool
}

func newPage(w io.Writer, opt Options) *page {
	return &page{Writer: bufio.NewWriter(w), palette: palette(opt.Color), width: opt.Width, brief: opt.Brief}
}

// line writes one line with an indent.
func (p *page) line(indent int, text string) {
	if text = strings.TrimRight(text, " "); text != "" {
		text = strings.Repeat(" ", indent) + text
	}
	fmt.Fprintln(p.Writer, text)
	p.begun = true
}

// prose writes text in lines that fit the terminal; lines after the first are indented by hang
// more.
func (p *page) prose(indent, hang int, text string) {
	width := 0
	if p.width > 0 {
		width = max(1, p.width-indent)
	}
	for _, line := range wrap.Lines(text, width, hang) {
		p.line(indent, line)
	}
}

func (p *page) blocks(all []document.Block, indent int) {
	for _, b := range all {
		if !document.Visible(b, document.Terminal) {
			continue
		}
		if s, ok := b.(*document.Section); ok && s.Length.Hides(p.brief) {
			continue
		} else if ok && s.Title == "" {
			p.blocks(s.Blocks, indent)
			continue
		}
		if p.begun && !p.joins(b) {
			fmt.Fprintln(p.Writer)
		}
		p.block(b, indent)
		p.last = b
	}
}

// joins reports whether b follows the last block without a blank line.
func (p *page) joins(b document.Block) bool {
	if p.last == nil {
		return true
	}
	_, before := p.last.(*document.Paragraph)
	_, now := b.(*document.Paragraph)
	_, listed := p.last.(*document.List)
	_, list := b.(*document.List)
	return before && now || p.brief && listed && list
}

func (p *page) block(b document.Block, indent int) {
	switch b := b.(type) {
	case *document.Section:
		p.section(b, indent)
	case *document.Paragraph:
		p.paragraph(b, indent)
	case *document.List:
		p.list(b, indent)
	case *document.Table:
		p.table(b, indent)
	case *document.Chart:
		p.chart(b, indent)
	case *document.Timeline:
		p.timeline(b, indent)
	}
}

func (p *page) section(s *document.Section, indent int) {
	title := p.bold(s.Title)
	if s.Tone != document.Plain {
		title = p.tone(s.Tone, s.Title)
	}
	if s.Says != "" {
		gap := " "
		if s.SaysTone != document.Plain {
			gap = "  "
		}
		title += gap + p.tone(s.SaysTone, s.Says)
	}
	p.prose(indent, 2, title)
	p.last = nil
	p.blocks(s.Blocks, indent+2)
}

func (p *page) paragraph(b *document.Paragraph, indent int) {
	text := strings.Join(append(b.Facts, b.Text), ", ")
	text = strings.TrimSuffix(text, ", ")
	if b.Word == "" {
		text = p.tone(b.Tone, text)
	}
	if b.Strong {
		text = p.bold(text)
	}
	parts := []string{}
	if b.Word != "" {
		parts = append(parts, p.tone(b.Tone, b.Word))
	}
	if text != "" {
		parts = append(parts, text)
	}
	var links []string
	for _, l := range b.Links {
		links = append(links, l.Text)
	}
	if b.Code == "" {
		p.prose(indent, 2, strings.Join(append(parts, links...), " "))
		return
	}
	whole := strings.Join(slices.Concat(parts, []string{b.Code}, links), " ")
	if p.width <= 0 || indent+ansi.StringWidth(whole) <= p.width {
		p.line(indent, whole)
		return
	}
	p.prose(indent, 2, strings.Join(append(parts, links...), " "))
	p.line(indent+2, b.Code) // has a line of its own at any length, so that it can be copied
}

// list writes items in lines, with words and names in columns.
func (p *page) list(b *document.List, indent int) {
	if b.Title != "" {
		p.line(indent, p.bold(b.Title))
		indent += 2
	}
	word, name, aligned := 0, 0, indent > 0
	for i := range b.Items {
		word, name = max(word, letters(b.Items[i].Word)), max(name, letters(b.Items[i].Name))
	}
	for i := range b.Items {
		item := &b.Items[i]
		var line string
		hang := 2
		if item.Word != "" {
			gap := 1
			if aligned {
				gap += word - letters(item.Word)
			}
			line = p.tone(item.Tone, item.Word) + strings.Repeat(" ", gap)
		}
		if item.Name != "" {
			line += item.Name
			if item.Text != "" {
				line += strings.Repeat(" ", name-letters(item.Name)+2)
				hang = ansi.StringWidth(line)
			}
		}
		p.prose(indent, hang, line+item.Text)
	}
}

// outcome writes the meaning of the exit code in one sentence.
func (p *page) outcome(d *document.Document, failed bool) {
	text := p.tone(d.Tone, d.Headline)
	if d.Why != "" {
		text += ": " + d.Why
	}
	if d.Beside != nil && d.Beside.Text != "" {
		text += "; " + d.Beside.Text
	}
	exit := fmt.Sprintf("exit %d", d.Exit)
	if failed {
		exit = "the command ends in an error; else " + exit
	}
	p.prose(0, 2, fmt.Sprintf("%s (%s)", text, exit))
}

// A palette reports whether words are coloured; the text has the meaning without it.
type palette bool

func (p palette) paint(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p palette) bold(s string) string { return p.paint("1", s) }

// tone returns text in the colour of a tone.
func (p palette) tone(t document.Tone, text string) string {
	code := map[document.Tone]string{document.Good: "32", document.Bad: "1;31", document.Weak: "33", document.Unclaimed: "33", document.None: "2"}[t]
	if code == "" {
		return text
	}
	return p.paint(code, text)
}

func letters(s string) int { return utf8.RuneCountInString(s) }
