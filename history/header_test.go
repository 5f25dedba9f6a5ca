package history

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

// TestHeaderIsReadAsWritten compares a header with the header read back from both
// formats.
func TestHeaderIsReadAsWritten(t *testing.T) {
	h := Header{
		Schema: Schema, Design: "x", Reacquire: "refused",
		Claims: lockbench.LeaseClaims(lockbench.Fencing).But(lockbench.Exception{
			Gives: []lockbench.Guarantee{lockbench.LeaseKept}, Under: lockbench.Cancel, Lasts: true, Why: "a late one frees it",
		}),
		Exercises: []lockbench.Cell{lockbench.Exclusion.At(0), lockbench.Recovery.At(lockbench.Crash)},
	}
	for name, write := range map[string]func(*bytes.Buffer, Source) error{"native": toNative, "json lines": toJSONL} {
		if diff := cmp.Diff(through(t, &listed{header: h}, write).Header(), h); diff != "" {
			t.Errorf("%s: header (-read +written):\n%s", name, diff)
		}
	}
}

// TestVersion1IsRefused expects one sentence with both versions and the lockbench to use,
// independent of the rest of the header.
func TestVersion1IsRefused(t *testing.T) {
	const header = `{"schema":"lockbench/history/v1","design":"x","claims":["overrun"],"exercises":null,"gone":1}`
	var native bytes.Buffer
	native.WriteString(magic + string(rune(formatVersion)))
	b := blockWriter{w: &native}
	b.write(frame{kind: headerBlock}, []byte(header))
	for name, file := range map[string]string{"native": native.String(), "json lines": header + "\n"} {
		_, err := NewSource(strings.NewReader(file))
		want := `the schema is "lockbench/history/v1", this lockbench reads "lockbench/history/v2"; hint: lockbench of commit 3ca9b9fc, before 0.1.0, reads it`
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "; hint: ") > 1 {
			t.Errorf("%s: got %v, want %q and one hint", name, err, want)
		}
	}
}

// TestHeaderRefusesUnknownNames names the field and the value.
func TestHeaderRefusesUnknownNames(t *testing.T) {
	for _, field := range []string{`"claims":["overrun"]`, `"exercises":["overrun"]`} {
		_, err := readJSONL(strings.NewReader(`{"schema":"lockbench/history/v2","design":"x",` + field + `}`))
		if err == nil || !strings.Contains(err.Error(), `unknown guarantee "overrun"`) {
			t.Errorf("%s: got %v, want an unknown guarantee", field, err)
		}
	}
}

// TestOtherDocumentsAreNoHistories: errors name the type of lockbench's other files.
func TestOtherDocumentsAreNoHistories(t *testing.T) {
	const want = "history: it is no history, but a lockbench/result/v2; hint: lockbench run --history DIR writes histories"
	for _, tt := range []struct{ text, want string }{
		{"{\n  \"schema\": \"lockbench/result/v2\",\n  \"runs\": []\n}\n", want},
		{`{"schema":"lockbench/matrix/v1","rows":[]}`, "it is no history, but a lockbench/matrix/v1; hint: "},
		{"{\n  \"schema\": \"lockbench/history/v2\"\n}\n", "the line is cut short; hint: begin with"},
	} {
		_, err := NewSource(strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.text, err, tt.want)
		}
	}
}
