package results

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListsOnOneLine checks that lists of numbers are written on one line, and that text which
// looks like such a list is not changed.
func TestListsOnOneLine(t *testing.T) {
	var buf bytes.Buffer
	if err := encode(&buf, map[string]any{"a": []any{1, -2.5e-7, 3}, "b": "[\n1,\n2]", "c": []string{"x"}, "d": []int{}}, " "); err != nil {
		t.Fatal(err)
	}
	want := "{\n \"a\": [1,-2.5e-7,3],\n \"b\": \"[\\n1,\\n2]\",\n \"c\": [\n  \"x\"\n ],\n \"d\": []\n}\n"
	if diff := cmp.Diff(buf.String(), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
