// Package markdown writes a document as GitHub's Markdown, for pull requests and the summary
// of a step: the outcome first, then tables and lists, and evidence that a reader unfolds.
package markdown

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/lib/legible"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/reports/internal/terminal"
)

// MaxSummary is the largest size in bytes of a step summary of GitHub; a larger one is not
// shown at all (docs.github.com, workflow commands).
const MaxSummary = 1 << 20

// maxEvidence bounds the evidence of broken guarantees in bytes, so that the whole stays
// below MaxSummary; longestMessage is the length in characters of the message that stands for
// evidence left out.
const (
	maxEvidence    = MaxSummary / 2
	longestMessage = 72
)

// Write writes d. It leaves counterexamples out as soon as the whole would exceed
// [MaxSummary]. It returns the first error of w.
func Write(w io.Writer, d *document.Document) error {
	p := &page{Writer: bufio.NewWriter(w)}
	if d.Headline != "" && !d.Brief {
		why := d.Why
		if d.Beside != nil && d.Beside.Text != "" {
			why += "; " + d.Beside.Text
		}
		if c := d.Conclusion; c != nil {
			p.printf("### lockbench: %s\n\n%s\n\n%s: %s (exit %d)\n", Inline(c.Word), Inline(c.Text), Inline(d.Headline), Inline(why), d.Exit)
		} else {
			p.printf("### lockbench: %s\n\n%s (exit %d)\n", Inline(d.Headline), Inline(why), d.Exit)
		}
	}
	p.blocks(d.Blocks)
	if !d.Brief {
		p.cases(d.Suites, "What was broken", func(c *document.Case) bool { return c.Broken })
		p.cases(d.Suites, "What is open", func(c *document.Case) bool { return c.State == document.Erred })
	}
	if d.Footer != "" {
		p.printf("\n<sub>%s</sub>\n", Inline(d.Footer))
	}
	return p.Flush()
}

// A page is a report being written; its Writer keeps the first error.
type page struct {
	*bufio.Writer
	begun  bool
	bullet bool // the line before is a bullet
	shown  int  // bytes of evidence
}

func (p *page) printf(format string, args ...any) {
	fmt.Fprintf(p.Writer, format, args...)
	p.begun = true
}

// part begins a block that is not another bullet of a list.
func (p *page) part() {
	if p.begun {
		p.printf("\n")
	}
	p.bullet = false
}

func (p *page) blocks(all []document.Block) {
	for _, b := range all {
		if !document.Visible(b, document.Markdown) {
			continue
		}
		switch b := b.(type) {
		case *document.Section:
			p.section(b)
		case *document.Paragraph:
			p.paragraph(b)
		case *document.List:
			p.list(b)
		case *document.Table:
			p.part()
			p.table(b)
		}
	}
}

func (p *page) section(s *document.Section) {
	if s.Title != "" {
		p.part()
		p.printf("**%s**\n", Inline(strings.TrimSpace(s.Title+" "+s.Says)))
	}
	p.blocks(s.Blocks)
}

func (p *page) paragraph(b *document.Paragraph) {
	text := strings.TrimSuffix(strings.Join(append(b.Facts, b.Text), ", "), ", ")
	if b.Word != "" {
		text = strings.TrimSpace(b.Word + " " + text)
	}
	p.item(Inline(text))
}

func (p *page) item(text string) {
	if !p.bullet {
		p.part()
	}
	p.printf("- %s\n", text)
	p.bullet = true
}

func (p *page) list(b *document.List) {
	if b.Title != "" {
		p.part()
		p.printf("**%s**\n", Inline(b.Title))
	}
	for _, item := range b.Items {
		var parts []string
		if item.Word != "" {
			parts = append(parts, "**"+Inline(item.Word)+"**")
		}
		for _, text := range []string{item.Name, item.Text} {
			if text != "" {
				parts = append(parts, Inline(text))
			}
		}
		p.item(strings.Join(parts, " "))
	}
	p.bullet = false
}

// table writes a table; values that fail the run are bold.
func (p *page) table(t *document.Table) {
	if len(t.Columns) > 0 {
		p.rows(t)
		if len(t.Notes) > 0 {
			p.printf("\n")
		}
	}
	if len(t.Notes) > 0 {
		p.printf("<sub>%s.</sub>\n", Inline(strings.Join(t.Notes, "; ")))
	}
}

func (p *page) rows(t *document.Table) {
	if t.Title != "" {
		p.printf("**%s**\n\n", Inline(t.Title))
	}
	p.printf("| %s |", Inline(t.Corner))
	under := "|---|"
	for _, c := range t.Columns {
		p.printf(" %s |", Inline(strings.ReplaceAll(strings.TrimSpace(c.Above+" "+c.Name), "- ", "-")))
		if under += "---|"; c.Number {
			under = strings.TrimSuffix(under, "---|") + "--:|"
		}
	}
	p.printf("\n%s\n", under)
	for i := range t.Rows {
		p.printf("| %s |", Inline(t.Rows[i].Name))
		for _, v := range t.Rows[i].Cells {
			text := Inline(strings.TrimSpace(v.Text + " " + v.Aside))
			if v.Tone == document.Bad && text != "" {
				text = "**" + text + "**"
			}
			p.printf(" %s |", text)
		}
		p.printf("\n")
	}
}

// cases writes the matching cases of all suites, under a heading.
func (p *page) cases(suites []document.Suite, heading string, match func(*document.Case) bool) {
	for i := range suites {
		for j := range suites[i].Cases {
			c := &suites[i].Cases[j]
			if !match(c) {
				continue
			}
			if heading != "" {
				p.printf("\n#### %s\n\n", heading)
				heading = ""
			}
			p.one(suites[i].Name+": "+c.Name, c)
		}
	}
}

func (p *page) one(title string, c *document.Case) {
	evidence := terminal.Text(c.Evidence)
	switch {
	case evidence == "":
		p.printf("- %s: %s\n", Inline(title), Inline(c.Message))
	case p.shown+len(evidence)+len(c.Message) > maxEvidence:
		p.printf("- %s: %s (too long to be shown here)\n", Inline(title), Inline(shortened(c.Message)))
	default:
		p.shown += len(evidence) + len(c.Message)
		fence := fenceFor(evidence)
		p.printf("<details><summary>%s: %s</summary>\n\n%s\n%s\n%s\n\n</details>\n\n", within(title), within(c.Message), fence, legible.Text(evidence), fence)
	}
}

func shortened(s string) string {
	if letters := []rune(s); len(letters) > longestMessage {
		return string(letters[:longestMessage-3]) + "..."
	}
	return s
}

// fenceFor returns a fence that does not occur in a text.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// special escapes the characters with a meaning in Markdown or HTML.
var special = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	`\`, `\\`, "\n", " ", "\r", " ", "~", `\~`, "#", `\#`,
)

// Inline escapes text for a line of Markdown.
func Inline(text string) string { return special.Replace(legible.Text(text)) }

// within escapes text for an HTML element, which Markdown leaves alone.
func within(text string) string {
	return html.EscapeString(strings.ReplaceAll(legible.Text(text), "\n", " "))
}
