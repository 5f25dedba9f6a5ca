package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// limitSearchDocument returns the report of a limit: the limit searched for, the path of the
// search, the breaches on it, and the result in a sentence.
func limitSearchDocument(l *results.LimitSearch) *document.Document {
	what := "the highest rate"
	if l.Of == results.LeaseLimit {
		what = "the shortest lease"
	}
	d := &document.Document{Kind: "limit", Title: l.Design, Headline: l.Sentence, Exit: l.Exit, Blocks: []document.Block{
		line(fmt.Sprintf("%s of %s, workload %s, seed %d", what, l.Design, l.Workload, l.Seed)),
		line(fmt.Sprintf("server: %s, %s", l.Server.Kind, l.Server.Version)),
	}}
	if l.Server.Kind == "embedded" {
		d.Blocks = append(d.Blocks, &document.Paragraph{Word: "note", Tone: document.Weak, Text: "the speeds are the embedded server's, not the design's"})
	}
	for _, condition := range l.Wanted {
		d.Blocks = append(d.Blocks, line("wanted: "+condition))
	}
	d.Blocks = append(d.Blocks, path(l), trialErrors(l))
	if c := l.SelfCheck; c != nil && !c.Caught {
		d.Blocks = append(d.Blocks, selfCheckBlock(c))
	}
	return d
}

// path returns the table of trials.
func path(l *results.LimitSearch) *document.Table {
	heads, row := []string{"grants/s", "refused", "p50", "p99", "max"}, rateRow
	t := &document.Table{Corner: "rate"}
	if l.Of == results.LeaseLimit {
		heads, row, t.Corner = []string{"holds", "longest", "outlived"}, leaseRow, "lease"
	}
	t.Columns = document.Words("outcome")
	for _, head := range heads {
		t.Columns = append(t.Columns, document.Column{Name: head, Number: true})
	}
	t.Columns = append(t.Columns, document.Column{Name: "what was missed"})
	for i := range l.Trials {
		trial := &l.Trials[i]
		word, tone := trialWord(trial.Outcome)
		r := document.Row{Name: l.At(trial.Value), Cells: []document.Value{{Text: word, Tone: tone}}}
		for _, text := range append(row(l, trial), trial.Why) {
			r.Cells = append(r.Cells, document.Value{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func rateRow(l *results.LimitSearch, t *results.LimitTrial) []string {
	refused := 0.0
	if all := t.Run.Counts.Grants + t.Run.Counts.Refused; all > 0 {
		refused = float64(t.Run.Counts.Refused) / float64(all)
	}
	a := t.Run.Latency[measure.Acquire.String()]
	return []string{
		figures.Rate(t.Run.GrantsPerS), fmt.Sprintf("%.1f%%", 100*refused),
		figures.Duration(a.Count, a.P50), figures.Duration(a.Count, a.P99), figures.Duration(a.Count, a.Max),
	}
}

func leaseRow(l *results.LimitSearch, t *results.LimitTrial) []string {
	holds := t.Run.Counts.Grants
	return []string{figures.Number(holds), figures.Duration(holds, t.Longest), figures.Number(t.Outlived)}
}

func trialWord(o limits.Outcome) (string, document.Tone) {
	switch o {
	case limits.Holds:
		return "kept", document.Good
	case limits.Fails:
		return "missed", document.Weak
	}
	return "unclear", document.Weak
}
