package reports

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// parsed returns claims that are known to be valid.
func parsed(terms ...string) lockbench.Claims {
	c, err := lockbench.Claims{}.Parse(terms...)
	if err != nil {
		panic(err)
	}
	return c
}

// matrixSample returns a matrix of three designs, with live runs and explorations. One design
// cannot be explored. Both catch the lock that is broken on purpose.
func matrixSample() results.Matrix {
	m := results.Matrix{
		Settings:    results.MatrixSettings{Seed: 7, BudgetNS: 3e11, Drivers: []string{"live", "explore"}, Parts: []string{"live", "explore"}},
		Environment: runinfo.Environment{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.0", Version: "v0.1.0"},
		SelfCheck:   results.MatrixRow{Design: "self-check/x"},
		Rows: []results.MatrixRow{
			{Design: "lua-token/expire", Source: "A distributed lock with Redis, stage 3", Claims: parsed("recovery @crash @pause", "-recovery@pause: it arrives late")},
			{Design: "lua-token/token", Claims: parsed("exclusion recovery @crash @skew")},
			{Design: "redsync/quorum", Library: "redsync@v4", Claims: parsed("exclusion"),
				Without: []results.MatrixOmission{{Part: "explore", Why: "it locks on 5 servers"}}},
		},
	}
	caught := broken(exclusive, false, 3, 9)
	caught.Counterexample = &checker.Counterexample{Key: "k", Sentence: "two held it"}
	live := func(design string, found ...checker.CellFinding) *results.Judged {
		j := judged(header(design, "private"), 300, found...)
		return &j
	}
	part := func(name string) results.Part {
		return results.Part{Name: name, Command: "lockbench " + name, Complete: true}
	}
	proof := func(name string) results.Part {
		return results.Part{Name: name, Complete: true, MustBreak: exclusive}
	}
	m.SelfCheck.AddRun(proof("live"), live("self-check/x", caught))
	m.SelfCheck.AddExplored(proof("explore"), []results.Explored{exploredIn("self-check/x", "overrun", 50, caught)})
	sample := exploredSample()
	expired := plainDelete("private")
	m.Rows[0].AddRun(part("live"), &expired)
	m.Rows[0].AddExplored(part("explore"), sample[:2])
	m.Rows[1].AddRun(part("live"), live("lua-token/token", held(exclusive, 40)))
	m.Rows[1].AddExplored(part("explore"), sample[2:4])
	m.Rows[2].AddRun(part("live"), live("redsync/quorum", held(exclusive, 12)))
	m.Settle()
	return m
}

func TestTerminalMatrix(t *testing.T) {
	uncaught := matrixSample()
	uncaught.SelfCheck.AddRun(results.Part{Name: "live", Complete: true, MustBreak: exclusive}, &results.Judged{Header: header("self-check/x", "private")})
	uncaught.Settle()
	missing := matrixSample()
	missing.Rows = missing.Rows[1:]
	missing.Rows[0].Parts = missing.Rows[0].Parts[:1]
	missing.Notes = []string{"the budget of 1s is too short"}
	missing.Settle()
	for _, c := range []struct {
		name string
		m    results.Matrix
		opt  Options
	}{
		{"matrix", matrixSample(), Options{}},
		{"matrix-color", matrixSample(), Options{Color: true}},
		{"matrix-uncaught", uncaught, Options{}},
		{"matrix-missing", missing, Options{}},
		{"matrix-nothing", results.Matrix{Exit: results.Inconclusive}, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := Write(&buf, Text, &c.m, c.opt); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".txt", buf.Bytes())
		})
	}
}

// TestMatrixFits keeps the table and its legend within eighty columns, for names as long as
// the catalogue's and all conditions.
func TestMatrixFits(t *testing.T) {
	m := matrixSample()
	m.Rows[0].Design = "hash-reentrant/watchdog"
	for _, one := range lockbench.AllConditions() {
		m.Rows[0].Cells.Set(lockbench.Exclusion.At(one.Condition), results.Finding{Finding: checker.Finding{Verdict: checker.Broken, Exercised: true, Exposure: 5, Violations: 5}})
	}
	var buf bytes.Buffer
	if err := Write(&buf, Text, &m, Options{}); err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(buf.String(), "\nlive: ")
	for line := range strings.Lines(table) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns, want 80 at most: %s", n, line)
		}
	}
}

func TestMarkdownMatrix(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, Markdown, pointer(matrixSample()), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "matrix.md", buf.Bytes())
}

// edit changes a part's finding on exclusion.
func edit(p *results.Part, change func(*results.Finding)) {
	f := p.Cells.At(exclusive)
	change(&f)
	p.Cells.Set(exclusive, f)
}

// forget removes the findings of all parts.
func forget(r *results.MatrixRow) {
	for i := range r.Parts {
		r.Parts[i].Cells = results.Cells{}
	}
}

func TestMatrixExit(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*results.Matrix)
		want   int
		says   string
	}{
		{"a broken claim", func(*results.Matrix) {}, results.BrokenClaim, ""},
		{"a claim untested", func(m *results.Matrix) {
			m.Rows = m.Rows[2:]
			edit(&m.Rows[0].Parts[0], func(f *results.Finding) { f.Verdict = checker.Untested })
		}, results.Inconclusive, ""},
		{"all held", func(m *results.Matrix) { m.Rows = m.Rows[2:] }, results.Passed, "every claim that this could exercise was held"},
		{"nothing claimed", func(m *results.Matrix) {
			m.Rows = m.Rows[2:]
			edit(&m.Rows[0].Parts[0], func(f *results.Finding) { f.Claimed = false })
		}, results.Passed, "nothing was claimed that this could exercise"},
		{"a part not run", func(m *results.Matrix) { m.Rows = m.Rows[2:]; m.Rows[0].Parts = nil }, results.Inconclusive, ""},
		{"a part cut short", func(m *results.Matrix) { m.Rows = m.Rows[2:]; m.Rows[0].Parts[0].Complete = false }, results.Inconclusive, ""},
		{"nothing granted", func(m *results.Matrix) { m.Rows = m.Rows[2:]; m.Rows[0].Parts[0].Counts.Grants = 0 }, results.Inconclusive, "was never granted a lock in "},
		{"an error", func(m *results.Matrix) { m.Rows = m.Rows[2:]; m.Rows[0].Parts[0].Error = "server lost" }, results.Inconclusive, ""},
		{"a defect", func(m *results.Matrix) { m.Rows = m.Rows[2:]; m.Rows[0].Parts[0].Defects = []string{"judges differ"} }, results.Inconclusive, ""},
		{"nothing was caught", func(m *results.Matrix) { m.Rows = m.Rows[2:]; forget(&m.SelfCheck) }, results.Inconclusive, ""},
		{"a broken claim outweighs it", func(m *results.Matrix) { forget(&m.SelfCheck) }, results.BrokenClaim, ""},
		{"no design", func(m *results.Matrix) { m.Rows = nil }, results.Inconclusive, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := matrixSample()
			c.change(&m)
			m.Settle()
			if m.Exit != c.want {
				t.Errorf("exit: got %d, want %d", m.Exit, c.want)
			}
			if _, why := outcome(&m); c.says != "" && !strings.Contains(why, c.says) {
				t.Errorf("got %q, want %q in it", why, c.says)
			}
		})
	}
}

// TestPartIsReplaced checks that a part that is done again counts once.
func TestPartIsReplaced(t *testing.T) {
	m := matrixSample()
	before := m.Rows[2].Cells.At(exclusive).Exposure
	again := judged(header("redsync/quorum", "private"), 300, held(exclusive, 5))
	m.Rows[2].AddRun(results.Part{Name: "live", Complete: true}, &again)
	m.Settle()
	if got := m.Rows[2].Cells.At(exclusive).Exposure; before != 12 || got != 5 || len(m.Rows[2].Parts) != 1 {
		t.Errorf("exposure: got %d, then %d in %d parts; want 12, then 5 in 1", before, got, len(m.Rows[2].Parts))
	}
}

func TestMatrixSchema(t *testing.T) {
	s := compile(t, true)
	validate := func(text []byte) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(doc)
	}
	text := encoded(t, matrixSample())
	if err := validate(text); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ name, old, new string }{
		{"another schema", "report/v4", "report/v2"},
		{"another kind", `"kind": "matrix"`, `"kind": "result"`},
		{"a verdict that is none", `"verdict": "held"`, `"verdict": "passed"`},
		{"a missing field", `"self_check"`, `"checked"`},
		{"a count below zero", `"schedules": 0`, `"schedules": -1`},
		{"a counterexample without its sentence", `"sentence"`, `"words"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.ReplaceAll(string(text), c.old, c.new)
			if bad == string(text) {
				t.Fatalf("%q is not in the matrix", c.old)
			}
			if validate([]byte(bad)) == nil {
				t.Error("taken, want it refused")
			}
		})
	}
}

func encoded(t *testing.T, m results.Matrix) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, JSON, &m, Options{}); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestReadMatrix(t *testing.T) {
	text := encoded(t, matrixSample())
	m, err := results.ReadAs[*results.Matrix](bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(encoded(t, *m)), string(text)); diff != "" {
		t.Errorf("read back (-got +want):\n%s", diff)
	}
	m.Settle()
	if diff := cmp.Diff(string(encoded(t, *m)), string(text)); diff != "" {
		t.Errorf("settled again (-got +want):\n%s", diff)
	}
	for _, c := range []struct{ name, text, want string }{
		{"cut short", string(text[:len(text)/2]), "cut short"},
		{"empty", "", "cut short"},
		{"no JSON", "design  exclusion\n", "no JSON matrix"},
		{"an array", "[]", "no JSON matrix"},
		{"another version", `{"schema": "lockbench/matrix/v1"}`, "another version, lockbench/matrix/v1, and this lockbench reads lockbench/report/v4; hint: make it anew: lockbench matrix --out json=FILE"},
		{"a result", `{"schema": "lockbench/report/v4", "kind": "result"}`, `it is a result, and not a matrix`},
		{"fields that do not fit", `{"schema": "lockbench/report/v4", "kind": "matrix", "rows": [{"design": 1}]}`, "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := results.ReadAs[*results.Matrix](strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "; hint: ") {
				t.Errorf("error: got %v, want it to say %q and a hint", err, c.want)
			}
		})
	}
}

func TestExplainCell(t *testing.T) {
	for _, c := range []struct {
		name string
		at   results.CellName
	}{
		{"explain-broken", results.CellName{Design: "lua-token/expire", Cell: crashed, File: "m.json"}},
		{"explain-live", results.CellName{Design: "lua-token/expire", Cell: stale}},
		{"explain-held", results.CellName{Design: "lua-token/token", Cell: exclusive}},
		{"explain-missing", results.CellName{Design: "redsync/quorum", Cell: lockbench.Exclusion.At(lockbench.Skew)}},
		{"explain-design", results.CellName{Design: "lua-token/expire"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			e, err := Explain(pointer(matrixSample()), c.at)
			if err := errors.Join(err, Write(&buf, Text, e, Options{})); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".txt", buf.Bytes())
		})
	}
	for _, at := range []results.CellName{{Design: "lua-token/none", Cell: lease}} {
		if _, err := Explain(pointer(matrixSample()), at); err == nil || !strings.Contains(err.Error(), "; hint: ") {
			t.Errorf("%+v: got %v, want an error with a hint", at, err)
		}
	}
}

// An errorWriter fails every write like a full disk.
type errorWriter struct{}

func (errorWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestCellReplay(t *testing.T) {
	got, err := results.CellReplay(matrixSample(), results.CellName{Design: "lua-token/expire", Cell: crashed})
	if err != nil || got != "design: lua-token/expire\n" {
		t.Errorf("got %q, %v; want the file of its schedule", got, err)
	}
	if got, err := results.CellReplay(matrixSample(), results.CellName{Design: "redsync/quorum", Cell: crashed}); err == nil {
		t.Errorf("got %q, want an error where nothing was explored", got)
	}
}

func TestMatrixErrorsOfWriting(t *testing.T) {
	m := matrixSample()
	for name, write := range map[string]func() error{
		"terminal": func() error { return Write(errorWriter{}, Text, &m, Options{}) },
		"markdown": func() error { return Write(errorWriter{}, Markdown, &m, Options{}) },
		"json":     func() error { return Write(errorWriter{}, JSON, &m, Options{}) },
		"compared": func() error {
			return Write(errorWriter{}, Text, &results.MatrixComparison{With: "x"}, Options{})
		},
	} {
		if write() == nil {
			t.Errorf("%s: got no error of a full disk", name)
		}
	}
}

// TestMatrixLeadsWithConclusions checks that the first column of a matrix has the conclusion on
// each design, in every medium, and that a matrix without conclusions has no such column.
func TestMatrixLeadsWithConclusions(t *testing.T) {
	written := func(m results.Matrix, form Form) string {
		var buf bytes.Buffer
		if err := Write(&buf, form, &m, Options{}); err != nil {
			t.Fatal(err)
		}
		return buf.String()
	}
	m := matrixSample()
	if text := written(m, Markdown); strings.Contains(text, "conclusion") {
		t.Errorf("no conclusion was drawn, got\n%s", text)
	}
	name := m.Rows[0].Design
	m.Rows[0].Conclusion = &conclusion.Conclusion{Word: conclusion.DoNotUse, Why: "a key stays locked", Cell: lease, Source: conclusion.Explored}
	for form, want := range map[Form]string{
		Markdown: "| " + name + " | **do not use** | ",
		Text:     name + "  do not use  ",
		HTML:     "a key stays locked (lease, found by exploration)",
		JUnit:    `<property name="conclusion" value="do not use">`,
		JSON:     `"word": "do not use"`,
	} {
		text := written(m, form)
		if form == Text { // columns are as wide as they have to be
			text, want = strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")
		}
		if !strings.Contains(text, want) {
			t.Errorf("%v: %q is not in\n%s", form, want, text)
		}
	}
}
