package html_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

var update = flag.Bool("update", false, "draw the pictures of the documents anew")

func pictures(t testing.TB, r *results.Result) map[string]string {
	t.Helper()
	all, err := reports.Pictures(r)
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(map[string]string)
	for _, p := range all {
		if drawn[p.Name] != "" {
			t.Errorf("two pictures are called %s", p.Name)
		}
		drawn[p.Name] = string(p.SVG)
	}
	return drawn
}

// TestDocumentedPictures checks that the pictures of docs/pictures are the drawings of
// the result beside them, and small enough for a README.
func TestDocumentedPictures(t *testing.T) {
	const dir = "../../../docs/pictures"
	r := load[*results.Result](t, filepath.Join(dir, "result.json"))
	want := pictures(t, r)
	if *update {
		for name, svg := range want {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(svg), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	committed, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, path := range committed {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(path)] = string(text)
		if len(text) > 60_000 {
			t.Errorf("%s has %d bytes, want 60,000 at most", path, len(text))
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("docs/pictures (-committed +drawn now), -update writes them:\n%.2000s", diff)
	}
	if len(got) < 4 {
		t.Errorf("%d pictures, want latencies and three counterexamples at least", len(got))
	}
}

func TestPictures(t *testing.T) {
	run := pictures(t, read(t, "run.json"))
	for _, words := range []string{"Latency of acquire by percentile", "prefers-color-scheme: dark", ">99.9%<", `class="line s1 d1"`, `class="line s2 d2"`} {
		if !strings.Contains(run["latency.svg"], words) {
			t.Errorf("%q is not in latency.svg", words)
		}
	}
	w := read(t, "run.json").Runs[0].Cells.At(lockbench.Exclusion.At(0)).Counterexample
	drawn := run[results.FileName(read(t, "run.json").Runs[0].Design)+".exclusion.svg"]
	for _, words := range append(overlapOf(read(t, "run.json"))[:3], w.Sentence, "both hold the lock, within their leases", "red, crossed: two hold it at once") {
		if !strings.Contains(drawn, words) {
			t.Errorf("%q is not in the picture of exclusion", words)
		}
	}
	explored := pictures(t, read(t, "explored.json"))
	if drawn := explored["setnx-getset-naive.recovery-crash.svg"]; !strings.Contains(drawn, "! die-before") || strings.Contains(drawn, "solid bar") {
		t.Errorf("the schedule is drawn as\n%s", drawn)
	}
	if explored["latency.svg"] != "" {
		t.Error("an exploration has latencies")
	}
	if all := pictures(t, nothing()); len(all) > 0 {
		t.Errorf("got %d pictures of nothing", len(all))
	}
}

// TestPicturesEscape checks that text from a result is escaped, and that the documents
// are XML.
func TestPicturesEscape(t *testing.T) {
	r := spoiled(t)
	for i := range r.Runs {
		r.Runs[i].Design = hostile + "\x00\x1b\ufffe"
	}
	for name, svg := range pictures(t, r) {
		if strings.ContainsAny(name, "/\\<>") {
			t.Errorf("a file is called %q", name)
		}
		if strings.Contains(svg, "<script") || strings.Contains(svg, "<img") {
			t.Errorf("%s has an element of the result's", name)
		}
		d := xml.NewDecoder(bytes.NewReader([]byte(svg)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
