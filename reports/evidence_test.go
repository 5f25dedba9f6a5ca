package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/results"
)

// TestUnclaimedEvidence checks that a brief report shows a breach of no claim in one line, with the
// command that reproduces it, but the evidence of a broken claim in full. All others have all
// evidence.
func TestUnclaimedEvidence(t *testing.T) {
	const line, command, events = "broken, and not claimed", "lockbench check ", "granted a lease"
	for _, tt := range []struct {
		name        string
		run         results.Judged
		opt         Options
		folded, all bool
	}{
		{"screen", plainDelete("private"), Options{Width: 80, Brief: true}, true, false},
		{"pipe", plainDelete("private"), Options{Brief: true}, true, false},
		{"screen, all", plainDelete("private"), Options{Width: 80}, false, true},
		{"file", plainDelete("private"), Options{}, false, true},
		{"screen, a broken claim", stealer("private"), Options{Width: 80, Brief: true}, false, true},
	} {
		r := results.New([]results.Judged{tt.run}, nil)
		var out bytes.Buffer
		if err := Write(&out, Text, &r, tt.opt); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if got := strings.Contains(text, line) && strings.Contains(text, " --evidence all"); got != tt.folded {
			t.Errorf("%s: folded %v, want %v:\n%s", tt.name, got, tt.folded, text)
		}
		if got := strings.Contains(text, events); got != tt.all {
			t.Errorf("%s: evidence %v, want %v:\n%s", tt.name, got, tt.all, text)
		}
		if tt.run.History != "" && !strings.Contains(text, command) {
			t.Errorf("%s: no %q:\n%s", tt.name, command, text)
		}
	}
}

// TestDrawn checks that a chart of many designs has six lines at first: the recommended lock, then
// the fastest of each family, then the fastest.
func TestDrawn(t *testing.T) {
	r := &results.Result{Recommendation: &results.Recommendation{Design: "b/5", Word: conclusion.NeedsGuard}}
	for i, family := range []string{"a", "a", "a", "b", "b", "b", "c", "c", "c"} {
		run := results.Run{}
		run.Design, run.GrantsPerS = fmt.Sprintf("%s/%d", family, i), float64(i)
		r.Runs = append(r.Runs, run)
	}
	var shown []string
	for _, line := range resultSummary(r).series() {
		if !line.Hidden {
			shown = append(shown, line.Label)
		}
	}
	if got, want := strings.Join(shown, " "), "a/2 b/4 b/5 c/6 c/7 c/8"; got != want {
		t.Errorf("drawn are %s, want %s", got, want)
	}
}

// TestConclusionTable checks that a page names the conditions tested too little for each design.
func TestConclusionTable(t *testing.T) {
	j := plainDelete("private")
	r := results.New([]results.Judged{j, j, j}, nil)
	r.Runs[0].Conclusion = &conclusion.Conclusion{Word: conclusion.DoNotUse, Why: "a key stays locked"}
	r.Runs[2].Conclusion = &conclusion.Conclusion{Word: conclusion.NeedsGuard, Why: "an owner is late", Late: true}
	r.Runs[1].Conclusion = &conclusion.Conclusion{Word: conclusion.NeedsGuard, Why: "two own a key", Open: []conclusion.Open{{Under: lockbench.Pause}, {Under: lockbench.Pause}}}
	var out bytes.Buffer
	if err := Write(&out, HTML, &r, Options{}); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	best, better, worst := strings.Index(page, "an owner is late</td>"), strings.Index(page, "two own a key</td>"), strings.Index(page, "a key stays locked</td>")
	if best < 0 || better < best || worst < better {
		t.Errorf("the best conclusion is at %d, the next at %d, the worst at %d: want all, the best one first", best, better, worst)
	}
	out.Reset()
	if err := Write(&out, Text, &r, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Index(text, "an owner is late") > strings.Index(text, "two own a key") {
		t.Errorf("the late owner is not first among those that need a guard:\n%s", text)
	}
	if n := strings.Count(page, `<td data-head="tried too little">holder stands still</td>`); n != 1 {
		t.Errorf("what was tried too little is there %d times, want once", n)
	}
}
