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
	table := m.Table()
	markdownTable(b, &table)
	fmt.Fprintf(b, "\n%s.\n", strings.Join(append(m.MadeFrom(), m.Notes...), ". "))
	return b.Flush()
}
