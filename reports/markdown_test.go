package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/reports/internal/junit"
	"github.com/lockbench/lockbench/reports/internal/markdown"
	"github.com/lockbench/lockbench/results"
)

func TestMarkdown(t *testing.T) {
	for _, name := range []string{"sample", "explored", "nothing", "nasty"} {
		var buf bytes.Buffer
		if err := Write(&buf, Markdown, pointer(resultsOf()[name]), Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "markdown-"+name+".md", buf.Bytes())
	}
}

// TestMarkdownFitsASummary checks that Markdown fits a summary, even with much
// evidence.
func TestMarkdownFitsASummary(t *testing.T) {
	long := plainDelete("private")
	for i, f := range long.Verdicts.Findings {
		if f.Counterexample != nil {
			w := *f.Counterexample
			w.Sentence = strings.Repeat("and then ", 20_000)
			long.Verdicts.Findings[i].Counterexample = &w
		}
	}
	var buf bytes.Buffer
	runs := []results.Judged{long, long, long}
	r := results.New(runs, nil)
	if err := Write(&buf, Markdown, &r, Options{}); err != nil {
		t.Fatal(err)
	}
	if buf.Len() > markdown.MaxSummary {
		t.Errorf("got %d bytes, GitHub shows %d", buf.Len(), markdown.MaxSummary)
	}
}

func TestAnnotations(t *testing.T) {
	for name, want := range map[string]string{
		"passed":   "",
		"failed":   "::error title=lockbench%3A lua-token/strategy%3A threshold acquire.p99>1ns::acquire.p99 2.05ms\n",
		"not run":  "::warning title=lockbench%3A redsync/single%3A run::not run\n",
		"uncaught": "::warning title=lockbench%3A lua-token/strategy%3A exclusion::claimed, but it met too little to say: 0 of 5 occasions; held, but a lock broken on purpose was not caught\n::warning title=lockbench%3A self-check%3A a lock broken on purpose is caught::what held counts as untested: 0 grants met 0 holds that outlived their leases: raise --clients or --duration\n",
	} {
		var buf bytes.Buffer
		if err := Write(&buf, Annotations, pointer(resultsOf()[name]), Options{}); err != nil {
			t.Fatal(err)
		}
		if got := buf.String(); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
	}
}

// TestAnnotationsAreCommands checks that no text of a result ends a command early,
// or begins one.
func TestAnnotationsAreCommands(t *testing.T) {
	bad := stealer("private")
	bad.Header.Design = "a,b::error\n::stop-commands::x"
	var runs []results.Judged
	for range 30 {
		runs = append(runs, bad)
	}
	var buf bytes.Buffer
	if err := Write(&buf, Annotations, pointer(results.New(runs, nil)), Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(buf.String(), "\n"), "\n")
	errors := 0
	for _, line := range lines {
		if !strings.HasPrefix(line, "::error title=lockbench") && !strings.HasPrefix(line, "::warning title=lockbench") {
			t.Errorf("not a command of ours: %q", line)
		}
		errors += strings.Count(line, "::error title")
	}
	if errors != junit.MaxAnnotations || !strings.Contains(buf.String(), "::and 21 more") {
		t.Errorf("got %d errors, want %d with the rest counted:\n%s", errors, junit.MaxAnnotations, buf.String())
	}
}
