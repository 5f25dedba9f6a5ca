package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/measure/limits"
	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"
)

func TestReadResult(t *testing.T) {
	var first, second bytes.Buffer
	if err := Write(&first, JSON, pointer(results.New(sample("private"), nil)), Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := results.ReadAs[*results.Result](bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(&second, JSON, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second.String(), first.String()); diff != "" {
		t.Errorf("written again (-got +want):\n%s", diff)
	}
}

func TestReadResultRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "it is cut short, after 0 bytes; hint: "},
		{"half of it", `{"schema": "lockbench/report/v4", "runs": [`, "it is cut short, after 43 bytes; hint: "},
		{"no JSON", "design grants", "it is no JSON result: "},
		{"another version", `{"schema": "lockbench/result/v1"}`, "it is a result of another version, lockbench/result/v1, and this lockbench reads lockbench/report/v4; hint: make it anew: lockbench run --out json=FILE"},
		{"another version, explored", `{"schema": "lockbench/result/v1", "runs": [{"design": "x", "exploration": {}}]}`, "it is a result of another version, lockbench/result/v1, and this lockbench reads lockbench/report/v4; hint: make it anew: lockbench explore --out json=FILE"},
		{"another version, otherwise damaged", `{"schema": "lockbench/result/v1", "runs": 3}`, "it is a result of another version, "},
		{"a cell that is none", `{"schema": "lockbench/report/v4", "kind": "result", "runs": [{"cells": {"exclusion@failver": {"verdict": "held"}}}]}`, `it is damaged: "exclusion@failver": unknown condition "failver"; hint: did you mean failover?`},
		{"a matrix", `{"schema": "lockbench/report/v4", "kind": "matrix"}`, `it is a matrix, and not a result; hint: name a file that lockbench run`},
		{"a matrix of another version", `{"schema": "lockbench/matrix/v2"}`, "it is a matrix of another version, lockbench/matrix/v2, and this lockbench reads lockbench/report/v4; hint: make it anew: lockbench matrix --out json=FILE"},
		{"another schema", `{"schema": "other/v1"}`, `it says schema "other/v1" and kind "", and a result "lockbench/report/v4"; hint: `},
		{"another kind", `{"schema": "lockbench/report/v4", "kind": "poem"}`, `it says schema "lockbench/report/v4" and kind "poem", and a result `},
		{"a verdict that is none", `{"schema": "lockbench/report/v4", "kind": "result", "runs": [{"cells": {"exclusion": {"verdict": "fine"}}}]}`, `it is damaged: "fine" is no verdict`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := results.ReadAs[*results.Result](strings.NewReader(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s...", err, c.want)
			}
		})
	}
}

// TestRead checks that every kind of report is read and written again without a
// change.
func TestRead(t *testing.T) {
	tried := judged(header(strategy, "private"), 100)
	search := results.LimitSearch{LimitQuestion: results.LimitQuestion{Design: "a/b", Of: results.RateLimit, Wanted: []string{}}}
	for _, outcome := range []limits.Outcome{limits.Unable, limits.Fails, limits.Holds} {
		trial := results.NewLimitTrial(100, &tried)
		trial.Outcome = outcome
		search.Trials = append(search.Trials, trial)
	}
	for _, r := range []results.Report{
		pointer(results.New(sample("private"), nil)), pointer(results.NewExploration(exploredSample(), nil)), pointer(matrixSample()),
		&results.Comparison{Designs: []results.ComparedDesign{}}, &search,
	} {
		var first, second bytes.Buffer
		if err := Write(&first, JSON, r, Options{}); err != nil {
			t.Fatal(err)
		}
		read, err := results.Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(&second, JSON, read, Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(second.String(), first.String()); diff != "" {
			t.Errorf("%T written again (-got +want):\n%s", r, diff)
		}
	}
}
