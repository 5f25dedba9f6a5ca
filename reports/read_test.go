package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadResult(t *testing.T) {
	var first, second bytes.Buffer
	if err := JSON(&first, New(sample("private"), nil)); err != nil {
		t.Fatal(err)
	}
	r, err := ReadResult(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := JSON(&second, r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second.String(), first.String()); diff != "" {
		t.Errorf("written again (-got +want):\n%s", diff)
	}
}

func TestReadResultRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "it is cut short, after 0 bytes; hint: "},
		{"half of it", `{"schema": "lockbench/result/v2", "runs": [`, "it is cut short, after 43 bytes; hint: "},
		{"no JSON", "design grants", "it is no JSON result: "},
		{"another version", `{"schema": "lockbench/result/v1"}`, "it is a result of another version, lockbench/result/v1, and this lockbench reads lockbench/result/v2; hint: make it anew: lockbench run --out json=FILE"},
		{"another version, explored", `{"schema": "lockbench/result/v1", "runs": [{"design": "x", "exploration": {}}]}`, "it is a result of another version, lockbench/result/v1, and this lockbench reads lockbench/result/v2; hint: make it anew: lockbench explore --out json=FILE"},
		{"another version, otherwise damaged", `{"schema": "lockbench/result/v1", "runs": 3}`, "it is a result of another version, "},
		{"a cell that is none", `{"schema": "lockbench/result/v2", "runs": [{"cells": {"exclusion@failver": {"verdict": "held"}}}]}`, `it is damaged: "exclusion@failver": unknown condition "failver"; hint: did you mean failover?`},
		{"a matrix", `{"schema": "lockbench/matrix/v2"}`, `it says schema "lockbench/matrix/v2", and a result "lockbench/result/v2"; hint: `},
		{"a verdict that is none", `{"schema": "lockbench/result/v2", "runs": [{"cells": {"exclusion": {"verdict": "fine"}}}]}`, `it is damaged: "fine" is no verdict`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadResult(strings.NewReader(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s...", err, c.want)
			}
		})
	}
}
