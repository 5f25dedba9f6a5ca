package results

import (
	"strings"
	"testing"
)

// TestTooMuch: what would take gigabytes of memory is turned away, and what is long for other reasons is not.
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
