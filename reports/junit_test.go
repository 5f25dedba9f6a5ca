package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/reports/internal/junit"
	"github.com/lockbench/lockbench/reports/internal/terminal"
	"github.com/lockbench/lockbench/results"
)

// resultsOf returns the results for the tests of test reports, each with another reason for its
// exit code.
func resultsOf() map[string]results.Result {
	ok := judged(header("lua-token/strategy", "private"), 50, held(exclusive, 5))
	unmet := judged(header("lua-token/strategy", "private"), 50, held(exclusive, 5))
	unmet.End.Trailer.Faults = []runinfo.FaultExposure{{Fault: "crash", Kind: "crash", Occurrences: 2}}
	defect := judged(header("lua-token/strategy", "private"), 50, held(exclusive, 5))
	defect.Verdicts.Defects = []string{"the counterexample saw what the sweep did not"}
	nasty := stealer("private")
	nasty.Header.Design = `<evil attr="&]]>` + "\x00\x1b"
	nasty.Verdicts.Findings[0].Counterexample.Sentence = "</testcase> ]]> \x01 und ü"
	return map[string]results.Result{
		"sample":                    gated(sample("private"), &results.SelfCheck{MustBreak: exclusive, Caught: true}, "acquire.p99>1ms", "lua-token/*: grants_per_s<1", "recovery@crash.violations>0", "fencing.exposure<1"),
		"passed":                    gated([]results.Judged{ok}, &results.SelfCheck{MustBreak: exclusive, Caught: true}, "acquire.p99>1h"),
		"unclaimed":                 results.New([]results.Judged{plainDelete("private")}, nil),
		"unscoped":                  gated([]results.Judged{ok}, nil, "redsync/*: acquire.p99>1h"),
		"failed":                    gated([]results.Judged{ok}, nil, "acquire.p99>1ns"),
		"uncaught":                  gated([]results.Judged{ok}, &results.SelfCheck{MustBreak: exclusive}),
		"unmet":                     results.New([]results.Judged{unmet}, nil),
		"late":                      results.New([]results.Judged{openLoop(500, runinfo.Arrivals{Due: 1000, Started: 500, Waiting: 500, BehindNS: int64(time.Second)})}, nil),
		"defect":                    results.New([]results.Judged{defect}, nil),
		"nasty":                     results.New([]results.Judged{nasty}, nil),
		"not run":                   results.New([]results.Judged{ok}, []string{"redsync/single"}),
		"nothing":                   results.New(nil, nil),
		"explored":                  results.NewExploration(exploredSample(), nil),
		"searched":                  searched(true, 0),
		"searched, against a claim": searched(true, 1),
		"known":                     searched(false, 0),
		"explored two":              results.NewExploration(exploredSample()[:2], []string{"lua-token/token: contend"}),
	}
}

// searched returns a run in which two cells held. An exploration, or else the released matrix, has
// both as broken, and a third cell that the run does not have. against is the number of violations
// against claims.
func searched(explored bool, against int64) results.Result {
	ok := judged(header("lua-token/strategy", "private"), 50, held(exclusive, 500), held(lease, 5))
	r := results.New([]results.Judged{ok}, nil)
	run := &r.Runs[0]
	other := lockbench.Recovery.At(lockbench.Crash)
	if explored {
		part := results.Part{Name: "explore", Command: "lockbench explore it"}
		part.Exploration = &results.Exploration{Coverage: results.Coverage{Schedules: 9}}
		part.Cells = results.NewCells(map[lockbench.Cell]results.Finding{
			exclusive: {Finding: checker.Finding{Verdict: checker.Broken, Claimed: against > 0, Exposure: 9, Violations: 3, Against: against}},
			other:     {Finding: checker.Finding{Verdict: checker.Broken, Exposure: 9, Violations: 1}},
			lease:     {Finding: checker.Finding{Verdict: checker.Held, Exposure: 9}},
		})
		run.Search = &results.Search{Parts: results.Parts{part}}
	} else {
		broken := results.Finding{Finding: checker.Finding{Verdict: checker.Broken, Exposure: 9, Violations: 3}}
		part := results.Part{Name: "live", Command: "lockbench run it"}
		part.Cells = results.NewCells(map[lockbench.Cell]results.Finding{
			exclusive: broken, other: broken, lease: {Finding: checker.Finding{Verdict: checker.Held, Exposure: 9}},
		})
		run.Known = &results.Known{Parts: results.Parts{part}}
	}
	r.Conclude(conclusion.Usual(), func(*results.Run) (conclusion.Lock, bool) { return conclusion.Lock{}, true })
	return r
}

// TestWhatAnotherSourceBrokeIsNotGreen checks that a cell that exploration or the released matrix
// has as broken is not green if the run alone saw it held, names the source, and has its
// evidence; a cell that only such a source has makes a case, too. A cell that all sources have as
// held is green.
func TestWhatAnotherSourceBrokeIsNotGreen(t *testing.T) {
	for _, c := range []struct {
		name   string
		result results.Result
		state  document.State
		source conclusion.Source
		shows  string
	}{
		{"explored", searched(true, 0), document.Skipped, conclusion.Explored, "lockbench explore it"},
		{"explored, against a claim", searched(true, 1), document.Failed, conclusion.Explored, "lockbench explore it"},
		{"known", searched(false, 0), document.Skipped, conclusion.Known, "lockbench run it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases := make(map[string]document.Case)
			for _, one := range resultSuites(&c.result)[0].Cases {
				cases[one.Name] = one
			}
			got := cases[exclusive.String()]
			if got.State != c.state || !strings.HasSuffix(got.Message, "("+string(c.source)+")") || !strings.HasPrefix(got.Strength, wordUnclaim) && got.Strength != wordBroken {
				t.Errorf("exclusion: got %+v, want state %v, and that it is %s", got, c.state, c.source)
			}
			if text := terminal.Text(got.Evidence); !strings.Contains(text, c.shows) {
				t.Errorf("exclusion: %q is not in\n%s", c.shows, text)
			}
			if len(got.Sources) != 3 || got.Sources[0] != [2]string{"seen now", "ok 500"} {
				t.Errorf("exclusion: got sources %q, want what the run saw, what the other has, and the conclusion", got.Sources)
			}
			if other := cases["recovery@crash"]; other.State != document.Skipped || other.Strength != wordUnclaim {
				t.Errorf("recovery@crash, which the run has nothing of: got %+v", other)
			}
			if kept := cases[lease.String()]; kept.State != document.Held || kept.Strength == wordUnclaim {
				t.Errorf("lease, which all have held: got %+v", kept)
			}
		})
	}
}

// TestRedWhereTheExitCodeIs checks that a test report has a failed or erroneous case if, and only
// if, the exit code is not 0, and that only cells that held are green.
func TestRedWhereTheExitCodeIs(t *testing.T) {
	for name, r := range resultsOf() {
		t.Run(name, func(t *testing.T) {
			red(t, resultSuites(&r), r.Exit)
			designs := r.Designs()
			for i, s := range resultSuites(&r) {
				if i < len(designs.Runs) {
					green(t, s, &designs.Runs[i])
				}
			}
		})
	}
	uncaught, missing := matrixSample(), matrixSample()
	uncaught.SelfCheck.AddRun(results.Part{Name: "live", Complete: true, MustBreak: exclusive}, &results.Judged{Header: header("self-check/x", "private")})
	missing.Rows[0].Parts = missing.Rows[0].Parts[:1]
	for name, m := range map[string]results.Matrix{"matrix": matrixSample(), "uncaught": uncaught, "missing": missing, "nothing": {}} {
		t.Run("matrix "+name, func(t *testing.T) {
			m.Settle()
			red(t, matrixSuites(&m), m.Exit)
		})
	}
}

func red(t *testing.T, suites []document.Suite, exit int) {
	t.Helper()
	var bad []string
	for _, s := range suites {
		for _, c := range s.Cases {
			if c.Message == "" {
				t.Errorf("%s, %s: nothing is said of it", s.Name, c.Name)
			}
			if c.State == document.Failed || c.State == document.Erred {
				bad = append(bad, s.Name+", "+c.Name)
			}
		}
	}
	if (len(bad) > 0) != (exit != results.Passed) {
		t.Errorf("exit %d, and red are %q", exit, bad)
	}
}

func green(t *testing.T, s document.Suite, run *results.Run) {
	t.Helper()
	for _, c := range s.Cases {
		if c.State != document.Held {
			continue
		}
		cell, err := lockbench.ParseCell(c.Name)
		if f, judged := run.Cells.Cells[cell]; err == nil && judged && f.Verdict != checker.Held {
			t.Errorf("%s, %s: green, and its verdict is %v", s.Name, c.Name, f.Verdict)
		}
	}
}

func TestJUnitFollowsTheSchema(t *testing.T) {
	xmllint := needXMLLint(t)
	dir := t.TempDir()
	validate := func(name string, write func(*bytes.Buffer) error) {
		t.Run(name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := write(&buf); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, results.FileName(name)+".xml")
			if err := os.WriteFile(file, buf.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			schema := filepath.Join("testdata", "junit", "jenkins-junit.xsd")
			if out, err := exec.Command(xmllint, "--noout", "--nonet", "--schema", schema, file).CombinedOutput(); err != nil {
				t.Errorf("xmllint: %v\n%s", err, out)
			}
		})
	}
	for name, r := range resultsOf() {
		validate(name, func(buf *bytes.Buffer) error { return Write(buf, JUnit, &r, Options{}) })
	}
	validate("matrix", func(buf *bytes.Buffer) error { return Write(buf, JUnit, pointer(matrixSample()), Options{}) })
	validate("matrix nothing", func(buf *bytes.Buffer) error { return Write(buf, JUnit, pointer(results.Matrix{}), Options{}) })
}

// needXMLLint returns the path of xmllint. Without it t is skipped, or fails if the environment
// requires the tools of tests.
func needXMLLint(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("xmllint")
	switch {
	case err == nil:
	case os.Getenv("LOCKBENCH_REQUIRE_SERVERS") == "1":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return path
}

func TestJUnit(t *testing.T) {
	for _, name := range []string{"sample", "explored"} {
		var buf bytes.Buffer
		if err := Write(&buf, JUnit, pointer(resultsOf()[name]), Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "junit-"+name+".xml", buf.Bytes())
	}
	var buf bytes.Buffer
	if err := Write(&buf, JUnit, pointer(matrixSample()), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "junit-matrix.xml", buf.Bytes())
}

// TestJUnitCounts checks the counts in the attributes of a report against its elements.
func TestJUnitCounts(t *testing.T) {
	for name, r := range resultsOf() {
		var buf bytes.Buffer
		if err := Write(&buf, JUnit, &r, Options{}); err != nil {
			t.Fatal(err)
		}
		var all junit.Suites
		if err := xml.Unmarshal(buf.Bytes(), &all); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var sum [3]int
		for _, s := range all.Suites {
			var got [4]int
			for _, c := range s.Cases {
				got[0]++
				got[1] += one(c.Failure != nil)
				got[2] += one(c.Error != nil)
				got[3] += one(c.Skipped != nil)
			}
			if want := [4]int{s.Tests, s.Failures, s.Errors, s.Skipped}; got != want {
				t.Errorf("%s, %s: got %v tests, failures, errors and skipped, its attributes say %v", name, s.Name, got, want)
			}
			sum[0], sum[1], sum[2] = sum[0]+s.Tests, sum[1]+s.Failures, sum[2]+s.Errors
		}
		if want := [3]int{all.Tests, all.Failures, all.Errors}; sum != want {
			t.Errorf("%s: got %v, the attributes of all say %v", name, sum, want)
		}
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestJUnitTellsErrors(t *testing.T) {
	broken := errors.New("disk full")
	for after := range 3 {
		w := &failing{after: after * 40, err: broken}
		if err := Write(w, JUnit, pointer(resultsOf()["sample"]), Options{}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "JUnit") {
			t.Errorf("after %d bytes: got %v, want %v", after*40, err, broken)
		}
	}
}

// A failing is a writer that accepts a number of bytes and then fails.
type failing struct {
	after int
	err   error
}

func (w *failing) Write(p []byte) (int, error) {
	if w.after -= len(p); w.after < 0 {
		return 0, w.err
	}
	return len(p), nil
}
