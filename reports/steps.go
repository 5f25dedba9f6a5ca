package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// stepColumns are those of a schedule. One in which nothing stands is left out.
var stepColumns = []struct {
	name string
	cell func(*Step) string
}{
	{"time", func(s *Step) string { return exact(s.At) }},
	{"client", func(s *Step) string { return s.Client }},
	{"command", func(s *Step) string { return shortened(s.Command) }},
	{"reply", func(s *Step) string { return shortened(s.Reply) }},
	{"fault", func(s *Step) string { return s.Fault }},
	{"believes it holds", func(s *Step) string { return strings.Join(s.Holders, ", ") }},
}

// longestCell is how much of a command is shown; JSON and replay files have all.
const longestCell = 72

func shortened(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= longestCell {
		return s
	}
	return string([]rune(s)[:longestCell-3]) + "..."
}

// Steps writes a schedule as a plain table, one row a step. It returns the first
// error of w.
func Steps(w io.Writer, steps []Step) error {
	buffered := bufio.NewWriter(w)
	writeSteps(buffered, false, steps)
	return buffered.Flush()
}

// writeSteps writes a schedule as a table, one row a step. Errors stay with w.
func writeSteps(w io.Writer, p palette, steps []Step) {
	widths := make([]int, len(stepColumns))
	for i := range steps {
		for c, column := range stepColumns {
			widths[c] = max(widths[c], utf8.RuneCountInString(column.cell(&steps[i])))
		}
	}
	var head strings.Builder
	for c, column := range stepColumns {
		if widths[c] > 0 {
			widths[c] = max(widths[c], len(column.name))
			fmt.Fprintf(&head, "  %-*s", widths[c], column.name)
		}
	}
	fmt.Fprintf(w, "    %s\n", p.dim(strings.TrimSpace(head.String())))
	for i := range steps {
		fmt.Fprintf(w, "    %s\n", stepLine(p, &steps[i], widths))
	}
}

func stepLine(p palette, s *Step, widths []int) string {
	var line strings.Builder
	gap := 0
	for c, column := range stepColumns {
		if widths[c] == 0 {
			continue
		}
		text := column.cell(s)
		if text != "" {
			line.WriteString(strings.Repeat(" ", gap))
			gap = 0
		}
		gap += 2 + widths[c] - utf8.RuneCountInString(text)
		if column.name == "fault" {
			text = p.bad(text)
		}
		line.WriteString(text)
	}
	return line.String()
}
