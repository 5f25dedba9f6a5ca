package history

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/runinfo"
)

// all that a lease lock on one server could claim then.
const everyOldLease = `["exclusion","owner-release","no-early-expiry","recovery","loss-reported","extend","effects","no-spurious-refusal","cancel","lost-reply","skew","script-flush"]`

func TestOldClaims(t *testing.T) {
	oldLease := lockbench.LeaseClaims().Without(lockbench.WakeUp) // which nobody claimed then
	tests := []struct{ names, claims string }{
		{`[]`, "nothing @nothing"},
		{`null`, "nothing @nothing"},
		{`["fairness"]`, "nothing @nothing"},
		{everyOldLease, oldLease.String()},
		{`["exclusion","skew"]`, "exclusion @pause @crash @thread-death @lost-reply @cancel @skew @script-flush"},
		{`["exclusion","restart","failover"]`,
			"exclusion @pause @crash @thread-death @lost-reply @cancel @script-flush +exclusion@state-loss +exclusion@failover"},
		{`["no-early-expiry","cancel","skew"]`,
			"lease recovery @pause @crash @thread-death @lost-reply @cancel @skew @script-flush +recovery@state-loss+failover -recovery@crash -recovery@thread-death -lease@lost-reply -recovery@lost-reply"},
		{`["no-spurious-refusal","recovery"]`,
			"answers no-spurious-refusal recovery @pause @crash @thread-death @lost-reply @cancel @script-flush " +
				"+answers@skew +no-spurious-refusal@skew +recovery@skew +answers@state-loss+failover +no-spurious-refusal@state-loss+failover +recovery@state-loss+failover -recovery@lost-reply -recovery@cancel -answers@script-flush -no-spurious-refusal@script-flush"},
		{`["extend","skew"]`, "nothing @nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.names, func(t *testing.T) {
			src, err := readJSONL(strings.NewReader(`{"schema":"lockbench/history/v1","design":"x","claims":` + tt.names + `}`))
			if err != nil {
				t.Fatal(err)
			}
			h := src.Header()
			if diff := cmp.Diff(h.Claims.String(), tt.claims); diff != "" {
				t.Errorf("claims (-got +want):\n%s", diff)
			}
			if !h.Translated || h.Schema != Schema {
				t.Errorf("translated %v, schema %s; want true, %s", h.Translated, h.Schema, Schema)
			}
		})
	}
}

// TestOldOverrun: it is exclusion past validity, unless something hindered the renewals.
func TestOldOverrun(t *testing.T) {
	claims := oldClaims([]string{"exclusion", "overrun", "skew"}, true)
	for cell, want := range map[string]bool{
		"exclusion": true, "exclusion@outlived": true, "exclusion@pause": true, "exclusion@outlived+lost-reply": true,
		"exclusion@outlived+pause": false, "exclusion@outlived+crash+skew": false, "exclusion@outlived+script-flush": false,
		"exclusion@state-loss": false,
	} {
		at, err := lockbench.ParseCell(cell)
		if err != nil {
			t.Fatal(err)
		}
		if got := claims.Claims(at); got != want {
			t.Errorf("%s claimed: %v, want %v", cell, got, want)
		}
	}
}

// TestOldNames reads each name in a header of then, and the cell that it stands for.
func TestOldNames(t *testing.T) {
	for _, o := range oldNames {
		h := Header{}
		text := `{"schema":"lockbench/history/v1","design":"x","claims":["` + o.name + `"],"exercises":["` + o.name + `"]}`
		if err := readHeader([]byte(text), &h, strict); err != nil {
			t.Fatal(err)
		}
		if want := o.cell != (lockbench.Cell{}); want != (len(h.Exercises) == 1) || want && h.Exercises[0] != o.cell {
			t.Errorf("%s exercises %v, want %s", o.name, h.Exercises, o.cell)
		}
	}
}

func TestOldHeaderRefusesUnknownNames(t *testing.T) {
	for _, tt := range []struct{ field, want string }{
		{`"claims":["exclusionn"]`, "claims: unknown guarantee \"exclusionn\"; hint: did you mean exclusion? in lockbench/history/v1 known are exclusion, overrun"},
		{`"exercises":["overun"]`, "exercises: unknown guarantee \"overun\"; hint: did you mean overrun? in lockbench/history/v1 known are exclusion, overrun"},
		{`"claims":["exclusion@crash"]`, "claims: unknown guarantee"},
		{`"claims":"exclusion"`, "claims: "},
		{`"claim":["exclusion"]`, `unknown field "claim"`},
	} {
		_, err := readJSONL(strings.NewReader(`{"schema":"lockbench/history/v1","design":"x",` + tt.field + `}`))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), "; hint: ") > 1 {
			t.Errorf("%s: got %v, want %q, and one hint at most", tt.field, err, tt.want)
		}
	}
	for _, field := range []string{`"claims":["overrun"]`, `"exercises":["overrun"]`} {
		_, err := readJSONL(strings.NewReader(`{"schema":"lockbench/history/v2","design":"x",` + field + `}`))
		if err == nil || !strings.Contains(err.Error(), `unknown guarantee "overrun"`) {
			t.Errorf("v2 with %s: got %v, want an unknown guarantee", field, err)
		}
	}
}

// TestHeaderIsReadAsWritten, in both formats; that of then is copied as one of today.
func TestHeaderIsReadAsWritten(t *testing.T) {
	h := Header{
		Schema: Schema, Design: "x", Reacquire: "refused",
		Claims: lockbench.LeaseClaims(lockbench.Fencing).But(lockbench.Exception{
			Gives: []lockbench.Guarantee{lockbench.LeaseKept}, Under: lockbench.Cancel, Lasts: true, Why: "a late one frees it",
		}),
		Exercises: []lockbench.Cell{lockbench.Exclusion.At(0), lockbench.Recovery.At(lockbench.Crash)},
	}
	src := &listed{header: h}
	formats := map[string]func(*bytes.Buffer, Source) error{
		"native":     func(b *bytes.Buffer, s Source) error { return WriteNative(b, s) },
		"json lines": func(b *bytes.Buffer, s Source) error { return WriteJSONL(b, s) },
	}
	for name, write := range formats {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(copied(t, src, write), h); diff != "" {
				t.Errorf("header (-read +written):\n%s", diff)
			}
			old, err := readJSONL(strings.NewReader(`{"schema":"lockbench/history/v1","design":"x","claims":` + everyOldLease + `,"exercises":["overrun"]}`))
			if err != nil {
				t.Fatal(err)
			}
			want := old.Header()
			want.Translated = false
			if diff := cmp.Diff(copied(t, old, write), want); diff != "" {
				t.Errorf("copy of an old header (-got +want):\n%s", diff)
			}
		})
	}
}

// copied is the header of src as it is read again.
func copied(t *testing.T, src Source, write func(*bytes.Buffer, Source) error) Header {
	t.Helper()
	var file bytes.Buffer
	if err := write(&file, src); err != nil {
		t.Fatal(err)
	}
	again, err := NewSource(&file)
	if err != nil {
		t.Fatal(err)
	}
	return again.Header()
}

// TestOldNativeHeader: a native file of then is read by the same rules.
func TestOldNativeHeader(t *testing.T) {
	var file bytes.Buffer
	file.WriteString(magic + string(rune(formatVersion)))
	b := blockWriter{w: &file}
	b.write(frame{kind: headerBlock}, []byte(`{"schema":"lockbench/history/v1","design":"x","claims":["recovery"],"exercises":null,"faults":["crash"]}`))
	src, err := NewSource(&file)
	if err != nil {
		t.Fatal(err)
	}
	h := src.Header()
	if !h.Translated || !slices.Equal(h.Claims.Keeps, []lockbench.Guarantee{lockbench.Recovery}) || h.Exercises != nil || !slices.Equal(h.Faults, []string{"crash"}) {
		t.Errorf("header %+v, want recovery claimed, and the rest as it is", h)
	}
}

// TestHeaderSaysNothingOfTranslation: the field is not written, and not read.
func TestHeaderSaysNothingOfTranslation(t *testing.T) {
	text, err := json.Marshal(Header{Translated: true})
	if err != nil || strings.Contains(strings.ToLower(string(text)), "translated") {
		t.Errorf("header is written as %s, %v", text, err)
	}
}

// TestOtherDocumentsAreNoHistories: other files of lockbench are called by what they are.
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

// TestOldExposure: how often a fault occurred is read by the key of before, too.
func TestOldExposure(t *testing.T) {
	want := runinfo.FaultExposure{Fault: "cut", Kind: "cut", Occurrences: 3, MetHeld: 1, MetAcquire: 2}
	for _, key := range []string{"struck", "occurrences"} {
		var got runinfo.FaultExposure
		text := `{"fault": "cut", "kind": "cut", "` + key + `": 3, "met_held": 1, "met_acquire": 2}`
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %+v, error %v, want %+v", key, got, err, want)
		}
	}
}
