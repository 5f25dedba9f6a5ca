package reports

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// pointer returns the address of a copy of v.
func pointer[T any](v T) *T { return &v }

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A checkout may have converted line ends.
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("%s (-got +want), -update rewrites it:\n%s", path, diff)
	}
}

func TestTerminal(t *testing.T) {
	cases := []struct {
		name   string
		result results.Result
		opt    Options
	}{
		{"tour", results.New(sample("private"), nil), Options{}},
		{"embedded-narrow", results.New(sample("embedded")[:2], []string{"watch-multi/poll"}), Options{Width: 100, Brief: true}},
		{"brief", results.New(append(sample("private"), passing()...), nil), Options{Brief: true}},
		{"color", results.New(sample("private")[:1], nil), Options{Color: true}},
		{"passed", results.New(passing(), nil), Options{}},
		{"gated", gated(sample("private"), nil, "acquire.p99>1ms", "lua-token/*: grants_per_s<1", "recovery@crash.violations>0", "redsync/*: grants<1"), Options{}},
		{"gated-failed", gated(passing(), nil, "acquire.p99>1ms", "acquire.max<1h"), Options{}},
		{"nothing", results.New(nil, []string{"lua-token/token"}), Options{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			if err := Write(&buf, Text, &c.result, c.opt); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".txt", buf.Bytes())
			if width := longestLine(tableOf(buf.String())); c.opt.Width > 0 && width > c.opt.Width || width > 140 {
				t.Errorf("table: got %d characters a line, want at most 140 and the terminal's", width)
			}
		})
	}
}

// tableOf returns the part of a report from the rule under the heading to the legend.
func tableOf(report string) string {
	_, after, _ := strings.Cut(report, "──")
	table, _, _ := strings.Cut(after, "\n\n")
	return table
}

func passing() []results.Judged {
	j, other := tokenLock("external"), tokenLock("external")
	other.Header.Workload = "redeem"
	for _, run := range []*results.Judged{&j, &other} {
		set(run, checker.CellFinding{Cell: lockbench.Effects.At(0), Finding: checker.Finding{Claimed: true, Note: "no client wrote after another"}})
	}
	return []results.Judged{j, other}
}

func TestColourSaysNothingMore(t *testing.T) {
	var plain, coloured bytes.Buffer
	r := results.New(sample("embedded"), nil)
	if err := errors.Join(Write(&plain, Text, &r, Options{}), Write(&coloured, Text, &r, Options{Color: true})); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("colour codes without Color")
	}
	if diff := cmp.Diff(stripColour(coloured.String()), plain.String()); diff != "" {
		t.Errorf("the text differs (-coloured +plain):\n%s", diff)
	}
}

type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReturned(t *testing.T) {
	r := results.New(sample("private"), nil)
	if err := Write(full{}, Text, &r, Options{}); !errors.Is(err, errFull) {
		t.Errorf("Terminal: got %v, want %v", err, errFull)
	}
	if err := Write(full{}, JSON, &r, Options{}); !errors.Is(err, errFull) {
		t.Errorf("JSON: got %v, want %v", err, errFull)
	}
}

// TestTerminalFits checks that no line except commands is wider than the terminal, and that a brief
// report leaves out the evidence of unclaimed breaches if there are many designs.
func TestTerminalFits(t *testing.T) {
	few := results.New(sample("private"), []string{"watch-multi/poll"})
	var runs []results.Judged
	for range 4 {
		runs = append(runs, plainDelete("private"))
	}
	for name, r := range map[string]results.Result{"few": few, "many": results.New(runs, nil)} {
		for _, opt := range []Options{{Width: 80, Brief: true}, {Width: 100, Brief: true}, {Width: 200, Brief: true}, {Brief: true}, {Width: 80}, {Width: 120}, {}} {
			var text strings.Builder
			if err := Write(&text, Text, &r, opt); err != nil {
				t.Fatal(err)
			}
			width := opt.Width
			for line := range strings.SplitSeq(text.String(), "\n") {
				if n := utf8.RuneCountInString(line); width > 0 && n > width && !strings.HasPrefix(strings.TrimSpace(line), "lockbench ") {
					t.Errorf("%s: %d columns on a terminal of %d: %s", name, n, width, line)
				}
			}
			if evidence, whole := strings.Contains(text.String(), "was overwritten by") || strings.Contains(text.String(), "times since the start"), name == "few" || !opt.Brief; evidence != whole {
				t.Errorf("%s, %+v: evidence %t, want %t:\n%s", name, opt, evidence, whole, text.String())
			}
		}
	}
}
