package reports

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/internal/limits"
)

// TerminalLimit writes a limit for people: what was wanted, the path of the search, what
// broke on it, and the limit in a sentence. It returns the first error of w.
func TerminalLimit(w io.Writer, l LimitSearch, opt TerminalOptions) error {
	t := &limitReport{page: newPage(w, opt), LimitSearch: &l}
	t.heading()
	if err := t.path(); err != nil {
		return err
	}
	if c := l.SelfCheck; c != nil && !c.Caught {
		t.printf("\n%s: a lock broken on purpose was NOT caught breaking %s: %s\n", t.bad("self-check"), c.MustBreak, c.reason())
	}
	t.printf("\n%s (exit %d)\n", t.bold(l.Sentence), l.Exit)
	return t.Flush()
}

// limitReport is a limit being written.
type limitReport struct {
	page
	*LimitSearch
}

func (t *limitReport) heading() {
	what := "the highest rate"
	if t.Of == LeaseLimit {
		what = "the shortest lease"
	}
	t.printf("%s of %s, workload %s, seed %d\n", what, t.Design, t.Workload, t.Seed)
	t.printf("server: %s, %s\n", t.Server.Kind, t.Server.Version)
	if t.Server.Kind == "embedded" {
		t.printf("%s the speeds are the embedded server's, not the design's\n", t.warn("note"))
	}
	for _, condition := range t.Wanted {
		t.printf("wanted: %s\n", condition)
	}
	t.printf("\n")
}

// path is the table of trials.
func (t *limitReport) path() error {
	head, row := []string{"rate", "outcome", "grants/s", "refused", "p50", "p99", "max", "what was missed"}, t.rateRow
	if t.Of == LeaseLimit {
		head, row = []string{"lease", "outcome", "holds", "longest", "outlived", "what was missed"}, t.leaseRow
	}
	var text bytes.Buffer
	table := plainTable(&text, head, 1, len(head)-1)
	for i := range t.Trials {
		if err := table.Append(row(&t.Trials[i])); err != nil {
			return fmt.Errorf("write the search path: %w", err)
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("write the search path: %w", err)
	}
	return writeTrimmed(t.Writer, text.String())
}

func (t *limitReport) rateRow(l *LimitTrial) []string {
	refused := 0.0
	if all := l.Grants + l.Refused; all > 0 {
		refused = float64(l.Refused) / float64(all)
	}
	a := l.Acquire
	return []string{
		t.value(l.Value), t.outcome(l.Outcome), figure(l.GrantsPerS), fmt.Sprintf("%.1f%%", 100*refused),
		duration(a.Count, a.P50), duration(a.Count, a.P99), duration(a.Count, a.Max), l.Why,
	}
}

func (t *limitReport) leaseRow(l *LimitTrial) []string {
	return []string{
		time.Duration(l.Value).String(), t.outcome(l.Outcome), number(l.Grants),
		duration(l.Grants, l.Longest), number(l.Outlived), l.Why,
	}
}

func (t *limitReport) outcome(o limits.Outcome) string {
	switch o {
	case limits.Holds:
		return t.good("kept")
	case limits.Fails:
		return t.warn("missed")
	}
	return t.warn("unclear")
}
