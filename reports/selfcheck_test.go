package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/results"
)

func TestProve(t *testing.T) {
	ok := judged(header("lua-token/strategy", "private"), 12, held(exclusive, 5))
	for _, c := range []struct {
		name  string
		runs  []results.Judged
		proof *results.SelfCheck
		want  checker.Verdict
		exit  int
		says  string
	}{
		{"nothing to prove", []results.Judged{ok}, nil, checker.Held, results.Passed, "No claim was broken"},
		{"caught", []results.Judged{ok}, &results.SelfCheck{MustBreak: exclusive, Caught: true, Grants: 12}, checker.Held, results.Passed, "No claim was broken"},
		{"not caught", []results.Judged{ok}, &results.SelfCheck{MustBreak: stale, Grants: 12}, checker.Untested, results.Inconclusive,
			"12 grants met 0 holds that outlived their leases: raise --clients or --duration (exit 3)"},
		{"a broken claim outweighs it", []results.Judged{ok, stealer("private")}, &results.SelfCheck{MustBreak: stale}, checker.Untested, results.BrokenClaim, "Claims were broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := results.New(c.runs, nil)
			r.Prove(c.proof)
			if got := r.Runs[0].Cells.At(exclusive).Verdict; got != c.want || r.Exit != c.exit {
				t.Errorf("got exclusion %v, exit %d; want %v, %d", got, r.Exit, c.want, c.exit)
			}
			var buf bytes.Buffer
			if err := Write(&buf, Text, &r, Options{}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(buf.String(), c.says) {
				t.Errorf("no %q in:\n%s", c.says, buf.String())
			}
			if err := compile(t, true).Validate(encodedResult(t, r)); err != nil {
				t.Error(err)
			}
		})
	}
}
