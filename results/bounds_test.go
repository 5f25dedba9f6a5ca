package results

import (
	"bytes"
	"strings"
	"testing"
)

// TestTooMuch checks that a file is rejected if it would take gigabytes of memory, and accepted if
// it is long for other reasons.
func TestTooMuch(t *testing.T) {
	head := `{"schema":"` + Schema + `","kind":"result","runs":[`
	for name, c := range map[string]struct{ text, want string }{
		"many runs":         {head + strings.Repeat("0,", maxList*10+1) + "0]}", "a list of more than"},
		"many null":         {head + strings.Repeat("null,", maxList*5) + "null]}", "a list of more than"},
		"many lists":        {head + strings.Repeat(`{"findings":[`+strings.Repeat("{},", maxList-2)+"{}]},", 25) + "{}]}", "lists of more than"},
		"long":              {head + `],"x":"` + strings.Repeat("x", maxText) + `"}`, "more than 32 MB"},
		"a long text":       {head + `],"x":"` + strings.Repeat("x", 8<<20) + `"}`, ""},
		"many small things": {head + `],"x":` + strings.Repeat(`{"x":`, 9000) + "0" + strings.Repeat(`}`, 9000) + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// FuzzRead checks that reading any file ends, and that conclusions can be drawn from any result
// read.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schema":"` + Schema + `","kind":"result","runs":[{"design":"a","cells":{"exclusion":{"verdict":"held"}},"latency":{"acquire":{"spectrum":{"ns":[1,2],"percent":[50,100]}}}}]}`))
	f.Add([]byte(`{"schema":"` + Schema + `","kind":"matrix","rows":[{"design":"a","parts":[{}]}]}`))
	f.Add([]byte(`{"schema":"lockbench/result/v1","runs":[null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read(bytes.NewReader(text))
		if (r == nil) == (err == nil) {
			t.Fatalf("got %v and error %v", r, err)
		}
		if result, ok := r.(*Result); ok {
			_, _ = Compare([]Result{*result}, []Result{*result}, CompareOptions{Force: true})
		}
	})
}
