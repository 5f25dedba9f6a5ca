package runner

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/results"
)

var update = flag.Bool("update", false, "rewrite golden files")

// foreignFiles is the directory with histories of other recorders. They record the same calls, with
// and without: owners outside the record, leases, unknown outcomes; and with each meaning of a
// second acquire.
const foreignFiles = "../checker/testdata/foreign"

// foreignDoors are the functions that can judge a history.
var foreignDoors = []struct {
	name  string
	judge func(t *testing.T, src history.Source) checker.Result
}{
	{"checker.Check", func(t *testing.T, src history.Source) checker.Result {
		r, err := checker.Check(src)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}},
	{"checker.Parallel", func(t *testing.T, src history.Source) checker.Result {
		add, finish := checker.Parallel(src.Header(), 2)
		for ev, err := range src.Events() {
			if err != nil {
				t.Fatal(err)
			}
			add(ev)
		}
		return finish(src.End())
	}},
	{"checker.NewBrief", func(t *testing.T, src history.Source) checker.Result {
		c := checker.NewBrief(src.Header())
		for ev, err := range src.Events() {
			if err != nil {
				t.Fatal(err)
			}
			c.Add(ev)
		}
		return c.Finish(src.End())
	}},
	{"a saved history", func(t *testing.T, src history.Source) checker.Result {
		return judgedSource(t, src, onProcessors).Verdicts
	}},
	{"beside a run", func(t *testing.T, src history.Source) checker.Result {
		return judgedSource(t, src, stepByStep(func(Snapshot, history.Event) {})).Verdicts
	}},
}

func judgedSource(t *testing.T, src history.Source, begin func(history.Header, *measure.Collector) judgement) results.Judged {
	t.Helper()
	j, _, err := judgeBy(src, "foreign.jsonl", nil, join(), begin)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestForeignFiles checks that all functions that judge return the verdicts and counts of
// golden.txt, and that the judgement of a saved history notes the questions that it left open.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(foreignFiles, "*.jsonl"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v; want 12 at least", len(files), err)
	}
	golden := filepath.Join(foreignFiles, "golden.txt")
	kept, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, section := range strings.Split(string(kept), "-- ")[min(1, len(kept)):] {
		name, text, _ := strings.Cut(section, " --\n")
		want[name] = text
	}
	var all strings.Builder
	for _, file := range files {
		name := filepath.Base(file)
		if *update {
			src := openForeign(t, file)
			j := judgedSource(t, src, onProcessors)
			want[name] = foreignVerdicts(j.Verdicts) + "note: " + strings.Join(j.Notes, "\nnote: ") + "\n"
			fmt.Fprintf(&all, "-- %s --\n%s", name, want[name])
		}
		verdicts, notes, _ := strings.Cut(want[name], "note: ")
		for _, door := range foreignDoors {
			got := foreignVerdicts(door.judge(t, openForeign(t, file)))
			if diff := cmp.Diff(verdicts, got); diff != "" {
				t.Errorf("%s by %s (-want +got):\n%s", name, door.name, diff)
			}
		}
		j := judgedSource(t, openForeign(t, file), onProcessors)
		if got := strings.Join(j.Notes, "\nnote: ") + "\n"; got != notes {
			t.Errorf("%s: notes are %q, want %q", name, got, notes)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func openForeign(t *testing.T, file string) history.Source {
	t.Helper()
	src, err := history.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// foreignVerdicts formats the counts and findings of r as lines.
func foreignVerdicts(r checker.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ops %d, grants %d, refused %d, unknown %d, failed %d, lost %d, unjudged %d, breaches %d, exit %d\n",
		r.Ops, r.Grants, r.Refused, r.Unknown, r.Failed, r.Lost, r.Unjudged, r.Breaches, r.Exit())
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s: %s, %d of %d, %d against the claims\n", f.Cell, f.Verdict, f.Violations, f.Exposure, f.Against)
	}
	for _, d := range r.Defects {
		fmt.Fprintf(&b, "defect: %s\n", d)
	}
	return b.String()
}
