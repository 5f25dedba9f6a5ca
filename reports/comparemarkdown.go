package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// MarkdownComparison writes a comparison as Markdown, such as a pull request shows. It
// returns the first error of w.
func MarkdownComparison(w io.Writer, c Comparison) error {
	b := bufio.NewWriter(w)
	verdict, why := c.sentence()
	fmt.Fprintf(b, "**%s**%s (exit %d)\n", verdict, inline(why), c.Exit)
	bullets(b, c.Open)
	fmt.Fprintf(b, "\n")
	for i := range c.Designs {
		fmt.Fprintf(b, "- %s\n", inline(c.Designs[i].heading()))
	}
	for _, d := range c.Differences {
		fmt.Fprintf(b, "- differs: %s\n", inline(d.String()))
	}
	bullets(b, c.Notes)
	c.markdownCells(b)
	for _, l := range c.Limits {
		fmt.Fprintf(b, "- limit %s: %s\n", l.Outcome, inline(l.String()))
	}
	for i := range c.Designs {
		c.Designs[i].markdownFigures(b)
	}
	if c.Tests > 0 {
		fmt.Fprintf(b, "\n%s.\n", inline(strings.Join(c.explanation(), " ")))
	}
	return b.Flush()
}

func bullets(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(w, "- %s\n", inline(line))
	}
}

func (c *Comparison) markdownCells(w io.Writer) {
	fmt.Fprintf(w, "\n**Guarantees**\n\n")
	same, broken := c.changedCells(func(word string, d *ComparedDesign, g *CellChange) {
		fmt.Fprintf(w, "- **%s** %s %s\n", word, inline(d.label()), inline(g.String()))
	})
	fmt.Fprintf(w, "- %s\n", unchanged(same, broken))
}

func (d *ComparedDesign) markdownFigures(w io.Writer) {
	if len(d.Metrics) == 0 {
		return
	}
	fmt.Fprintf(w, "\n**%s**\n\n", inline(d.label()))
	fmt.Fprintf(w, "| figure | base | new | change | between | p |\n|---|--:|--:|--:|--:|--:|\n")
	for i := range d.Metrics {
		c := d.Metrics[i].cells()
		merged := []string{c[0], c[1] + " " + c[2], c[3] + " " + c[4], c[5] + " " + c[wordCell], c[7], c[8]}
		for j := range merged {
			merged[j] = inline(strings.TrimSpace(merged[j]))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(merged, " | "))
	}
}
