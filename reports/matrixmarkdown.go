package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// MarkdownMatrix writes a matrix as a Markdown table with its legend and what it was
// made from. It returns the first error of w.
func MarkdownMatrix(w io.Writer, m Matrix) error {
	b := bufio.NewWriter(w)
	gated := m.AsResult()
	if thresholds := (markdown{page: page{Writer: b}, result: &gated}); len(m.Thresholds) > 0 {
		thresholds.thresholds()
		fmt.Fprintln(b)
	}
	head, rule := "| design |", "|---|"
	for _, g := range Judgeable() {
		head += " " + heads[g] + " |"
		rule += ":-:|"
	}
	fmt.Fprintf(b, "%s\n%s\n", head, rule)
	for i := range m.Rows {
		line := "| " + m.Rows[i].Design + " |"
		for _, g := range Judgeable() {
			text, _ := mark(m.Rows[i].Cells[g])
			line += " " + strings.ReplaceAll(text, "*", `\*`) + " |"
		}
		fmt.Fprintln(b, line)
	}
	fmt.Fprintf(b, "\n%s.\n", strings.Join(columnLegend(), ", "))
	fmt.Fprintf(b, "%s.\n", strings.ReplaceAll(strings.Join(markLegend, "; "), "*", `\*`))
	fmt.Fprintf(b, "\n%s.\n", strings.Join(append(m.MadeFrom(), m.Notes...), ". "))
	return b.Flush()
}
