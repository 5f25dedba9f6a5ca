package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/testkit/schematest"
)

// compile compiles the published schema. If closed, it accepts no field that it does not
// describe.
func compile(t *testing.T, closed bool) *jsonschema.Schema {
	t.Helper()
	s, err := schematest.Compile(closed, JSONSchema)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// encodedResult returns r as decoded from its JSON.
func encodedResult(t *testing.T, r results.Result) any {
	t.Helper()
	var buf bytes.Buffer
	if err := Write(&buf, JSON, &r, Options{}); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestResultsFollowTheSchema(t *testing.T) {
	real, err := overlapping()
	if err != nil {
		t.Fatal(err)
	}
	foreign := real
	foreign.Header.Server.Kind, foreign.Header.Params = "", nil
	cases := []struct {
		name string
		r    results.Result
	}{
		{"sample", results.New(sample("private"), []string{"lua-token/options"})},
		{"judged for real", results.New([]results.Judged{real}, nil)},
		{"servers that differ", results.New([]results.Judged{real, foreign}, nil)},
		{"nothing run", results.New(nil, nil)},
	}
	schema := compile(t, true)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := schema.Validate(encodedResult(t, c.r)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	cases := []struct {
		name, old, new string
		open           bool // whether the published, open schema accepts it
	}{
		{"another schema", "lockbench/report/v4", "lockbench/report/v2", false},
		{"a verdict that is none", `"verdict":"broken"`, `"verdict":"passed"`, false},
		{"broken without a violation", `"violations":7`, `"violations":0`, false},
		{"broken without a counterexample", `"counterexample":{`, `"testimony":{`, false},
		{"a count below zero", `"grants":300`, `"grants":-1`, false},
		{"an exit code of its own", `"exit":0}`, `"exit":2}`, false},
		{"a missing field", `"worst_overlap_ns"`, `"overlap_ns"`, false},
		{"a latency that is text", `"max_ns":`, `"max_ns":"1ms","was":`, false},
		{"a field nobody described", `"partial":`, `"partly":true,"partial":`, true},
	}
	var written, text bytes.Buffer
	err := Write(&written, JSON, pointer(results.New(sample("private")[:1], nil)), Options{})
	if err := errors.Join(err, json.Compact(&text, written.Bytes())); err != nil {
		t.Fatal(err)
	}
	published, closed := compile(t, false), compile(t, true)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.ReplaceAll(text.String(), c.old, c.new)
			if bad == text.String() {
				t.Fatalf("%q is not in the result", c.old)
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
			if err != nil {
				t.Fatal(err)
			}
			if err := published.Validate(doc); (err == nil) != c.open {
				t.Errorf("published schema: got %v, want it taken: %v", err, c.open)
			}
			if closed.Validate(doc) == nil {
				t.Error("closed schema: taken, want it refused")
			}
		})
	}
}

// TestRoundTrip checks that this package's own types read the JSON result.
func TestRoundTrip(t *testing.T) {
	var first, second bytes.Buffer
	if err := Write(&first, JSON, pointer(results.New(sample("private"), nil)), Options{}); err != nil {
		t.Fatal(err)
	}
	var r results.Result
	if err := json.Unmarshal(first.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if err := Write(&second, JSON, &r, Options{}); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Error("a result read back and written again differs")
	}
}

func TestExit(t *testing.T) {
	brokenClaim, failed := stealer("private"), failedRun("private")
	ok := judged(header("d", "private"), 5, held(exclusive, 5))
	unclaimed := plainDelete("private")
	untested := tokenLock("private")
	cases := []struct {
		name   string
		runs   []results.Judged
		notRun []string
		want   int
	}{
		{"all held", []results.Judged{ok, ok}, nil, results.Passed},
		{"broken but not claimed", []results.Judged{ok, unclaimed}, nil, results.Passed},
		{"a claim untested", []results.Judged{ok, untested}, nil, results.Inconclusive},
		{"an error", []results.Judged{ok, failed}, nil, results.Inconclusive},
		{"a design not run", []results.Judged{ok}, []string{"d"}, results.Inconclusive},
		{"nothing", nil, nil, results.Inconclusive},
		{"a broken claim outweighs all", []results.Judged{failed, brokenClaim, ok}, []string{"d"}, results.BrokenClaim},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := results.New(c.runs, c.notRun).Exit; got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestRealCounterexample(t *testing.T) {
	j, err := overlapping()
	if err != nil {
		t.Fatal(err)
	}
	r := results.New([]results.Judged{j}, nil)
	g := r.Runs[0].Cells.At(exclusive)
	if g.Verdict != checker.Broken || g.Counterexample == nil || len(g.Counterexample.Holds) != 2 {
		t.Fatalf("exclusion: got %v with counterexample %+v, want broken with two holds", g.Verdict, g.Counterexample)
	}
	if r.Exit != results.BrokenClaim {
		t.Errorf("exit: got %d, want %d", r.Exit, results.BrokenClaim)
	}
}
