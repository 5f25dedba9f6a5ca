package reports

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/results"
)

const denied = "NOPERM this user has no permissions to run the 'evalsha' command"

// withErrors returns a run with these errors.
func withErrors(all ...measure.Error) results.Judged {
	return results.Judged{
		Header:   history.Header{Design: "family/variant", Workload: "mutex", Started: "2026-11-02T10:00:00Z"},
		Verdicts: checker.Result{Grants: 1, Ops: 1},
		Measures: measure.Measures{Errors: all},
	}
}

// TestErrorsAreShown checks that errors are shown by kind, in the server's own words, apart from
// those that faults caused, and that nothing counts as tested if the server refused most calls
// of a kind.
func TestErrorsAreShown(t *testing.T) {
	refused := measure.Error{Op: history.Release, Kind: "NOPERM", Refusal: true, Count: 1224, Of: 1224, First: denied, At: 12_000_000}
	some := refused
	some.Count, some.Of = 2, 4
	lost := measure.Error{Op: history.Acquire, Kind: "connection lost", Fault: "cut", Count: 3, Of: 3, First: "EOF", At: 1}
	loading := refused
	loading.Fault, loading.Kind = "restart", "LOADING"
	for _, c := range []struct {
		name string
		in   []measure.Error
		exit int
		says []string
		not  string
	}{
		{"none", nil, results.Passed, nil, "errors"},
		{"all refused", []measure.Error{refused}, results.Inconclusive,
			[]string{"release NOPERM: 1,224 of 1,224 calls, first at 0.012000s: " + denied, "had the server refuse 1,224 of 1,224 release calls: " + denied}, injectedTitle},
		{"half refused", []measure.Error{some}, results.Passed, []string{"release NOPERM: 2 of 4 calls"}, "had the server refuse"},
		{"by faults", []measure.Error{lost, loading}, results.Passed, []string{
			injectedTitle, "acquire connection lost by cut: 3 of 3 calls", "release LOADING by restart: 1,224 of 1,224 calls"}, errorsTitle},
		{"of other kinds", []measure.Error{{Kind: measure.OtherErrors, Count: 5, Of: 9}}, results.Passed, []string{"other errors: 5 of 9 calls, first at 0.000000s"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := results.New([]results.Judged{withErrors(c.in...)}, nil)
			if r.Exit != c.exit {
				t.Errorf("exit %d, want %d", r.Exit, c.exit)
			}
			if err := compile(t, true).Validate(encodedResult(t, r)); err != nil {
				t.Error(err)
			}
			for _, form := range []Form{Text, Markdown, HTML} {
				wantInReport(t, form, &r, c.says, c.not)
			}
		})
	}
}

// wantInReport fails t unless the report, in this form, contains every text in says and does not
// contain the text not.
func wantInReport(t *testing.T, form Form, r Report, says []string, not string) {
	t.Helper()
	var out strings.Builder
	if err := Write(&out, form, r, Options{}); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("&#39;", "'", `\_`, "_", "`", "", `\`, "").Replace(out.String())
	for _, want := range says {
		if form == HTML && want == injectedTitle {
			want = "E" + want[1:] // pages capitalize titles
		}
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("form %v lacks %q:\n%.20000s", form, want, text[max(0, len(text)-20000):])
		}
	}
	if not != "" && form != HTML && strings.Contains(text, not) {
		t.Errorf("form %v says %q:\n%s", form, not, text)
	}
}

// TestErrorsOfBothSidesAreShown checks that a comparison adds up the errors of a side, and is
// inconclusive if the server refused most calls of a kind.
func TestErrorsOfBothSidesAreShown(t *testing.T) {
	refused := measure.Error{Op: history.Release, Kind: "NOPERM", Refusal: true, Count: 3, Of: 4, First: denied, At: 7}
	again := withErrors(refused)
	again.Header.Started = "2026-11-02T11:00:00Z"
	base := results.New([]results.Judged{withErrors()}, nil)
	changed := results.New([]results.Judged{withErrors(refused), again}, nil)
	c, err := results.Compare([]results.Result{base}, []results.Result{changed}, results.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Exit != results.Inconclusive {
		t.Errorf("exit %d, want %d", c.Exit, results.Inconclusive)
	}
	wantInReport(t, Text, &c, []string{"NEW family/variant", "release NOPERM: 6 of 8 calls, first at 0.000000s: " + denied, "the server refused 3 of 4 release calls: "}, "BASE family/variant release")
}

// TestErrorsOfTrialsAreShown checks that a search for a limit shows the errors by trial.
func TestErrorsOfTrialsAreShown(t *testing.T) {
	j := withErrors(measure.Error{Op: history.Acquire, Kind: "OOM", Refusal: true, Count: 1, Of: 9, First: "OOM command not allowed", At: 7})
	l := results.LimitSearch{LimitQuestion: results.LimitQuestion{Of: results.RateLimit}, Trials: []results.LimitTrial{results.NewLimitTrial(100, &j)}}
	wantInReport(t, Text, &l, []string{"acquire OOM: 1 of 9 calls, first at 0.000000s: OOM command not allowed"}, "")
}
