package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// atPoints returns a result of one design, which held at some points and broke a claim at the last.
func atPoints(points ...[2]float64) *results.Result {
	var runs []results.Judged
	for i, p := range points {
		h := header("lua-token/token", "private")
		h.Params["clients"], h.Params["keys"] = p[0], p[1]
		found := held(exclusive, 400)
		if i == len(points)-1 {
			found = broken(exclusive, true, 3, 100)
		}
		runs = append(runs, judged(h, 10, found))
	}
	r := results.New(runs, nil)
	for i := range r.Runs {
		r.Runs[i].GrantsPerS = float64(100 * (i + 1))
	}
	return &r
}

func TestRateLines(t *testing.T) {
	line := func(label string, values ...float64) document.Line {
		return document.Line{Label: label, Values: values}
	}
	for _, c := range []struct {
		name    string
		points  [][2]float64
		clients []string
		lines   []document.Line
	}{
		{"a line for each number of keys, by ascending clients", [][2]float64{{64, 1}, {1, 1}, {8, 1}, {64, 4}, {1, 4}, {8, 4}}, []string{"1", "8", "64"}, []document.Line{line("1 key", 200, 300, 100), line("4 keys", 500, 600, 400)}},
		{"keys that follow from the clients", [][2]float64{{2, 1}, {4, 2}, {8, 4}}, []string{"2", "4", "8"}, []document.Line{line("1, 2, 4 keys", 100, 200, 300)}},
		{"a point was not run", [][2]float64{{1, 1}, {8, 1}, {64, 1}, {1, 4}}, []string{"1", "8", "64"}, []document.Line{line("1 key", 100, 200, 300)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := atPoints(c.points...)
			clients, lines := resultSummary(r).rateLines(r.Locks()[0])
			if diff := cmp.Diff(clients, c.clients); diff != "" {
				t.Errorf("clients (-got +want):\n%s", diff)
			}
			if diff := cmp.Diff(lines, c.lines); diff != "" {
				t.Errorf("lines (-got +want):\n%s", diff)
			}
		})
	}
}

// TestPoints checks that the points of a design have a row each in the table of speeds, and one
// conclusion and one table of guarantees together.
func TestPoints(t *testing.T) {
	r := atPoints([2]float64{1, 4}, [2]float64{8, 4}, [2]float64{64, 4})
	r.Runs[0].Conclusion = &conclusion.Conclusion{Word: conclusion.DoNotUse, Why: "two own a key at once"}
	for form, wants := range map[Form][]string{
		Text: {
			"\nlua-token/token (clients 1)", "\nlua-token/token (clients 64)", "\nworkload oversell, 4 keys",
			"lua-token/token: do not use: two own a key at once", "lua-token/token (clients 64) broke exclusion", "grants/s by clients; * 4 keys",
			"nothing goes wrong  BROKEN 3/900",
		},
		HTML: {"(lua-token/token at 3 points)"},
		CSV:  {"\nlua-token/token,8,4,200.000,"},
	} {
		var out bytes.Buffer
		if err := Write(&out, form, r, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%.6000s", form, want, out.String())
			}
		}
	}
	if r.Runs[0].Cells.At(exclusive).Verdict != checker.Held {
		t.Error("the table of guarantees changed the result")
	}
}

// TestAcceptedAtPoints checks that an accepted claim that was broken at one of several points, or
// at the only one, is not shown as BROKEN in the table of guarantees.
func TestAcceptedAtPoints(t *testing.T) {
	for _, points := range [][][2]float64{{{1, 1}, {8, 1}}, {{1, 1}}} {
		for _, accepted := range []bool{false, true} {
			r := atPoints(points...)
			last := &r.Runs[len(r.Runs)-1].Cells
			if f := last.At(exclusive); accepted {
				f.Accepted = &results.AcceptedBreak{Until: "2099-01-01", Reason: "known"}
				last.Set(exclusive, f)
			}
			s := &summary{result: r, label: newLabel(r.Runs), unit: "design"}
			text := s.lockGuarantees().Rows[0].Cells[0].Text
			if failed := strings.HasPrefix(text, wordBroken); failed == accepted || !strings.HasPrefix(strings.ToLower(text), "broken") {
				t.Errorf("%d points, accepted %v: the table says %q", len(points), accepted, text)
			}
		}
	}
}
