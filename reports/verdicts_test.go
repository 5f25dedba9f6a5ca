package reports

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/reports/internal/markdown"
)

// TestVerdicts checks the outcome of a run in the last line of the terminal report, on top
// of the Markdown, and in the JUnit case that says whether the run could be judged.
func TestVerdicts(t *testing.T) {
	clean := func() results.Judged {
		j := judged(header("d", "private"), 100, held(exclusive, 90))
		j.Header.Faults = nil
		return j
	}
	with := func(change func(*results.Judged)) results.Judged { j := clean(); change(&j); return j }
	empty := checker.CellFinding{Cell: exclusive, Finding: checker.Finding{Claimed: true, Exercised: true}}
	for _, c := range []struct {
		name  string
		run   results.Judged
		proof *results.SelfCheck
		exit  int
		says  string // in the last line and on top
		whole string // state of the JUnit case, and its message
	}{
		{"clean", clean(), nil, results.Passed,
			"No claim was broken: every claim that this could exercise was held", "passed 100 grants judged"},
		{"a claim broken", with(func(j *results.Judged) {
			set(j, broken(exclusive, true, 1, 5))
		}), nil, results.BrokenClaim, "Claims were broken: d broke exclusion", "passed 100 grants judged"},
		{"broken where nothing was claimed", with(func(j *results.Judged) {
			j.Verdicts.Findings = append(j.Verdicts.Findings, broken(overrun, false, 3, 5))
		}), nil, results.Passed,
			"No claim was broken: every claim that this could exercise was held; broken only where nothing was claimed: d", "passed 100 grants judged"},
		{"claimed, and another guarantee may have been broken instead", with(func(j *results.Judged) {
			f := broken(stale, true, 3, 5)
			f.Against = 0
			j.Verdicts.Findings = append(j.Verdicts.Findings, f)
		}), nil, results.Passed,
			"No claim was broken: every claim that this could exercise was held; broken only where nothing was claimed: d", "passed 100 grants judged"},
		{"a claim met under other conditions alone", with(func(j *results.Judged) {
			set(j, empty)
			j.Verdicts.Findings = append(j.Verdicts.Findings, held(lockbench.Exclusion.At(lockbench.Skew), 4))
		}), nil, results.Passed,
			"No claim was broken: every claim that this could exercise was held", "passed 100 grants judged"},
		{"measured nothing", with(func(j *results.Judged) { j.Verdicts.Grants = 0; set(j, empty) }), nil, results.Inconclusive,
			"Inconclusive: d was never granted a lock", "in error no lock was granted"},
		{"too little of a claim", with(func(j *results.Judged) { set(j, empty) }), nil, results.Inconclusive,
			"Inconclusive: d met too little of exclusion", "passed 100 grants judged"},
		{"a lock broken on purpose not caught", clean(), &results.SelfCheck{MustBreak: exclusive, Grants: 7}, results.Inconclusive,
			"Inconclusive: a lock broken on purpose was not caught, so that what held counts as untested: 7 grants met 0 holds that outlived their leases: raise --clients or --duration", "passed 100 grants judged"},
		{"a lock broken on purpose not run", clean(), &results.SelfCheck{MustBreak: exclusive, Error: "nothing listens there"}, results.Inconclusive,
			"Inconclusive: a lock broken on purpose was not caught, so that what held counts as untested: it met an error: nothing listens there", "passed 100 grants judged"},
		{"interrupted", with(func(j *results.Judged) { j.End.Trailer.Ended = results.EndedByUser }), nil, results.Inconclusive,
			"Inconclusive: d was interrupted", "in error it was interrupted before its plan was done"},
		{"interrupted too early", with(func(j *results.Judged) { j.End.Trailer.Ended = results.EndedByUser; set(j, empty) }), nil, results.Inconclusive,
			"Inconclusive: d was interrupted", "in error it was interrupted before its plan was done"},
		{"an error of the server", with(func(j *results.Judged) { j.Err = errors.New("connection refused") }), nil, results.Inconclusive,
			"Inconclusive: d met an error", "in error connection refused"},
		{"few operations without an answer", with(func(j *results.Judged) { j.Verdicts.Unknown = 10 }), nil, results.Passed,
			"No claim was broken: every claim that this could exercise was held", "passed 100 grants judged; 10 of 200 operations failed or had no answer, and no fault was injected"},
		{"a server that went away", with(func(j *results.Judged) { j.Verdicts.Unknown = 11 }), nil, results.Inconclusive,
			"Inconclusive: d got too few answers: 11 of 200 operations failed or had no answer, and no fault was injected",
			"in error 11 of 200 operations failed or had no answer, and no fault was injected"},
		{"a fault that explains it", with(func(j *results.Judged) { j.Verdicts.Unknown, j.Header.Faults = 100, []string{"cut"} }), nil, results.Passed,
			"No claim was broken: every claim that this could exercise was held", "passed 100 grants judged"},
		{"the history of another program", with(func(j *results.Judged) { j.Verdicts.Unknown, j.Header.Started = 100, "" }), nil, results.Passed,
			"No claim was broken: every claim that this could exercise was held", "passed 100 grants judged"},
		{"a partial record", with(func(j *results.Judged) { j.Verdicts.Partial, j.Verdicts.Why = true, "block 17 is cut short" }), nil, results.Inconclusive,
			"Inconclusive: d left a partial record", "in error the record is partial: block 17 is cut short"},
		{"a defect of lockbench", with(func(j *results.Judged) { j.Verdicts.Defects = []string{"two judges disagree"} }), nil, results.Inconclusive,
			"Inconclusive: d met a defect of lockbench", "in error a defect of lockbench: two judges disagree"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := results.New([]results.Judged{c.run}, nil)
			r.Prove(c.proof)
			if r.Exit != c.exit {
				t.Errorf("exit %d, want %d", r.Exit, c.exit)
			}
			var terminal, page bytes.Buffer
			if err := errors.Join(Write(&terminal, Text, &r, Options{}), Write(&page, Markdown, &r, Options{})); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(terminal.String()), "\n")
			if diff := cmp.Diff(lines[len(lines)-1], fmt.Sprintf("%s (exit %d)", c.says, c.exit)); diff != "" {
				t.Errorf("last line (-got +want):\n%s", diff)
			}
			headline, why, _ := strings.Cut(c.says, ": ")
			if want := fmt.Sprintf("### lockbench: %s\n\n%s (exit %d)\n", headline, markdown.Inline(why), c.exit); !strings.HasPrefix(page.String(), want) {
				t.Errorf("%q is not on top of\n%s", want, page.String())
			}
			whole := resultSuites(&r)[0].Cases[0]
			state := map[document.State]string{document.Held: "passed ", document.Erred: "in error "}[whole.State]
			if diff := cmp.Diff(state+whole.Message, c.whole); diff != "" {
				t.Errorf("JUnit (-got +want):\n%s", diff)
			}
		})
	}
}

// TestNotExercised checks that a cell that was put to the test all the same is not listed
// as an unexercised claim.
func TestNotExercised(t *testing.T) {
	met := held(stale, 12)
	met.Exercised = false
	r := results.New([]results.Judged{judged(header("d", "private"), 100, held(exclusive, 90), met,
		checker.CellFinding{Cell: lease, Finding: checker.Finding{Claimed: true}})}, nil)
	var buf bytes.Buffer
	if err := Write(&buf, Text, &r, Options{}); err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(buf.String(), "claimed, but not exercised")
	if strings.Contains(list, "owner-release") || !strings.Contains(list, "lease") {
		t.Errorf("got %q, want lease and not owner-release", list)
	}
}
