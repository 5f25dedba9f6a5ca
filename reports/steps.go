package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/reports/internal/repeats"
	"github.com/lockbench/lockbench/results"
)

// Steps writes a schedule as a plain table, one row per step. It returns the first error of w.
func Steps(w io.Writer, steps []results.Step) error {
	return writeBlocks(w, stepsTable(steps, shortened))
}

// stepColumns are the columns of a schedule, after the time. Empty columns are left out.
var stepColumns = []struct {
	name string
	cell func(*results.Step) string
}{
	{"client", func(s *results.Step) string { return s.Client }},
	{"command", func(s *results.Step) string { return s.Command }},
	{"reply", func(s *results.Step) string { return s.Reply }},
	{"fault", func(s *results.Step) string { return s.Fault }},
	{"believes it holds", func(s *results.Step) string { return strings.Join(s.Holders, ", ") }},
}

// stepsTable returns a schedule as a table; cut shortens its commands.
func stepsTable(steps []results.Step, cut func(string) string) *document.Table {
	t := &document.Table{Corner: "time", Wide: true}
	for i := range steps {
		t.Rows = append(t.Rows, document.Row{Name: figures.Exact(steps[i].At)})
	}
	for _, column := range stepColumns {
		some := false
		values := make([]document.Value, len(steps))
		for i := range steps {
			values[i].Text = cut(column.cell(&steps[i]))
			some = some || values[i].Text != ""
			if column.name == "fault" {
				values[i].Tone = document.Bad
			}
		}
		if !some {
			continue
		}
		t.Columns = append(t.Columns, document.Column{Name: column.name, Code: column.name == "command"})
		for i := range values {
			t.Rows[i].Cells = append(t.Rows[i].Cells, values[i])
		}
	}
	return t
}

// longestCell is the largest number of characters of a command that a table shows. JSON and replay
// files have all.
const longestCell = 72

func shortened(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= longestCell {
		return s
	}
	return string([]rune(s)[:longestCell-3]) + "..."
}

func whole(s string) string { return s }

// onePage returns the steps that a page shows. If there are too many, repetitions are folded, so
// that the breach at the end is shown.
func onePage(steps []results.Step) []results.Step {
	if len(steps) > maxTold {
		return repeats.Collapsed(steps)
	}
	return steps
}

// scheduleBlocks returns the evidence for a breach in an exploration: a picture and all steps on a
// page, a few steps elsewhere.
func scheduleBlocks(s *results.Schedule, drawn *document.Timeline, scenario string) []document.Block {
	steps, more := onePage(s.Steps), ""
	if len(steps) > maxTold {
		steps, more = steps[:maxTold], fmt.Sprintf("And %d more, in the JSON result.", len(steps)-maxTold)
	}
	onPage := []document.Block{
		drawn,
		&document.Section{Title: "The schedule, step by step", Folded: true, Blocks: []document.Block{stepsTable(steps, whole)}},
	}
	if more != "" {
		onPage = append(onPage, &document.Paragraph{Text: more})
	}
	if s.Replay != "" {
		onPage = append(onPage, &document.Section{Title: "The schedule as a file for", Says: "lockbench explore --replay", Folded: true,
			Blocks: []document.Block{&document.Paragraph{Code: s.Replay}}})
	}
	return []document.Block{
		&document.Paragraph{Text: fmt.Sprintf("%s, found by schedule %s", scenario, figures.Number(s.FoundAt))},
		document.Only(document.Page, onPage...),
		document.Only(document.Terminal|document.Markdown, stepsTable(repeats.Collapsed(s.Steps), shortened)),
	}
}
