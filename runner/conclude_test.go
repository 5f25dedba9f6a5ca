package runner

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/reports"
)

// TestConclude checks that a plan with Conclude draws a conclusion on each design from the runs and
// the released matrix, that a lock that is not in the catalogue is not known, and that a plan
// without Conclude draws none.
func TestConclude(t *testing.T) {
	p := small(t, "lua-token/strategy", "setnx-getset/naive")
	own := p.Subjects[1]
	own.Design.Name = "my/lock"
	p.Subjects = append(p.Subjects, own)
	for _, asked := range []bool{true, false} {
		p.Conclude = asked
		result, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		report := result.Report()
		for i, want := range []struct {
			word   conclusion.Word
			source conclusion.Source
		}{{conclusion.DoNotUse, conclusion.Known}, {conclusion.NeedsGuard, conclusion.Known}, {conclusion.NotKnown, ""}} {
			run := &report.Runs[i]
			switch got := run.Conclusion; {
			case !asked && got != nil:
				t.Errorf("%s: got %+v, which nobody asked for", run.Design, got)
			case asked && (got == nil || got.Word != want.word || got.Source != want.source):
				t.Errorf("%s: got %+v, want %q, %s", run.Design, got, want.word, want.source)
			}
		}
		var text bytes.Buffer
		if err := reports.Write(&text, reports.Text, report, reports.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.HasPrefix(text.String(), string(conclusion.NeedsGuard)); got != asked {
			t.Errorf("asked %v: the report begins with a conclusion: %v\n%s", asked, got, &text)
		}
	}
}
