package html_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

// load reads a report from a file.
func load[T results.Report](t testing.TB, path string) T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := results.ReadAs[T](f)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// read returns the result of a real run or exploration.
func read(t testing.TB, name string) *results.Result {
	t.Helper()
	return load[*results.Result](t, filepath.Join("testdata", name))
}

// written returns the page of r.
func written(t testing.TB, r results.Report) string {
	t.Helper()
	var buf bytes.Buffer
	if err := reports.Write(&buf, reports.HTML, r, reports.Options{}); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// nothing returns a result without runs.
func nothing() *results.Result {
	r := results.New(nil, nil)
	return &r
}

func TestWrite(t *testing.T) {
	gated := read(t, "run.json")
	value := 3.0
	gated.Thresholds = []results.Threshold{{Threshold: "exclusion.violations>0", Outcome: 1, Readings: []results.Reading{{Design: "d", Outcome: 1, Value: &value}}}}
	open := read(t, "run.json")
	open.Runs[0].Latency["lag"] = open.Runs[0].Latency["acquire"]
	open.Runs[0].OpenLoop = &results.OpenLoop{OfferedPerS: 800, StartedPerS: 640, Why: "160 arrivals were still waiting"}
	for i := range open.Runs {
		open.Runs[i].Params["rate"], open.Runs[i].Params["arrival"] = 800.0, "poisson"
	}
	failed := read(t, "run.json")
	failed.Exit, failed.NotRun = results.Inconclusive, []string{"lua-token/plain"}
	failed.Runs[0].Error, failed.Runs[0].Notes = "the server went away", []string{"a note of its own"}
	for _, c := range []struct {
		name string
		r    *results.Result
		want []string
	}{
		{"run", read(t, "run.json"), []string{
			`<h1 id="verdict">No claim was broken</h1>`, `class="verdict good"`, "<b>Broken where nothing was claimed:</b>", `<a href="#run-1">`, `<section class="run" id="run-2"`,
			`id="run-1-exclusion"`, `data-picture="run-1-exclusion"`, "both within their validity",
			`data-chart="spectrum"`, `data-chart="overtime"`, `data-chart="fairness"`, `data-chart="compare"`, "server-pause",
		}},
		{"exploration", read(t, "explored.json"), []string{"In virtual time", `data-picture="run-1-recovery-at-crash"`, "The schedule, step by step", "explore --replay"}},
		{"nothing was run", nothing(), []string{`<h1 id="verdict">Inconclusive</h1>`, `class="verdict open"`, "<p>nothing was run. "}},
		{"what went wrong", failed, []string{"the server went away", "a note of its own", "lua-token/plain"}},
		{"arrivals on a schedule", open, []string{"response time", "service time", "start lag", "800/s offered", "open loop: poisson 800/s", "160 arrivals were still waiting"}},
		{"thresholds", gated, []string{`<h2 id="thresholds">Thresholds</h2>`, "exclusion.violations&gt;0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := written(t, c.r)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in the page", want)
				}
			}
		})
	}
}

// elsewhere finds references that a browser would fetch.
var elsewhere = regexp.MustCompile(`(?i)(src|href|action|poster|data)\s*=\s*["']?(https?:|//|[a-z]+\.(js|css))|@import|url\((["']?)(https?:|//)`)

func TestSelfContained(t *testing.T) {
	if found := elsewhere.FindString(written(t, read(t, "run.json"))); found != "" {
		t.Errorf("the page refers elsewhere: %s", found)
	}
}

// TestExplorationHasNoLoop checks that an exploration, which measures no speed, is not
// called a closed loop.
func TestExplorationHasNoLoop(t *testing.T) {
	if page := written(t, read(t, "explored.json")); strings.Contains(page, "closed loop") {
		t.Error("an exploration is said to be a closed loop")
	}
}

// TestEveryLinkLeadsSomewhere follows the links within the page.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	for _, name := range []string{"run.json", "explored.json"} {
		linksLead(t, written(t, read(t, name)))
	}
}

const hostile = `</script><script>pwned=1</script><img src=x onerror="pwned=1">"'` + "`${pwned=1}`\u2028"

// spoiled returns a result with hostile code in place of every name.
func spoiled(t testing.TB) *results.Result {
	r := read(t, "run.json")
	r.NotRun, r.Environment.Version = []string{hostile}, hostile
	r.SelfCheck = &results.SelfCheck{Design: hostile, MustBreak: lockbench.Exclusion.At(0)}
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Design, run.Workload, run.History, run.Error = hostile, hostile, hostile, hostile
		run.Notes, run.Defects, run.Faults = []string{hostile}, []string{hostile}, []string{hostile}
		run.Params["hold"] = hostile
		run.OverTime.Faults[0].Note = hostile
		run.Claims.Except = []lockbench.Exception{{Why: hostile}}
		for cell, f := range run.Cells.All() {
			f.Note = hostile
			if f.Counterexample != nil {
				f.Counterexample.Key, f.Counterexample.Sentence = hostile, hostile
				for j := range f.Counterexample.Ops {
					f.Counterexample.Ops[j].Note = hostile
				}
				for j := range f.Counterexample.Holds {
					f.Counterexample.Holds[j].EndedBy = hostile
				}
			}
			run.Cells.Set(cell, f)
		}
	}
	return r
}

func TestEscapes(t *testing.T) { escaped(t, written(t, spoiled(t))) }

// escaped asserts that the hostile text is in a page, and only as text.
func escaped(t *testing.T, page string) {
	t.Helper()
	for _, bad := range []string{"<script>pwned", "<img src=x", "onerror=\"pwned"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q as it was in the result", bad)
		}
	}
	if !strings.Contains(page, "&lt;/script&gt;") || !strings.Contains(page, `\u003c/script\u003e`) {
		t.Error("what was hostile is not in the page at all")
	}
}

// TestOldAndSparse writes results without their optional fields, which older results
// lack.
func TestOldAndSparse(t *testing.T) {
	r := read(t, "run.json")
	for i := range r.Runs {
		r.Runs[i].OverTime, r.Runs[i].GrantsByClient, r.Runs[i].Latency, r.Runs[i].Params = nil, nil, nil, nil
		for cell, f := range r.Runs[i].Cells.All() {
			f.Counterexample, f.Measures = nil, nil
			r.Runs[i].Cells.Set(cell, f)
		}
	}
	if page := written(t, r); strings.Contains(page, "<figure class=\"lanes\"") {
		t.Error("a picture of nothing")
	}
	r.Runs[0].Cells = results.Cells{}
	written(t, r)
}

// FuzzWrite writes pages of arbitrary result files.
func FuzzWrite(f *testing.F) {
	for _, name := range []string{"run.json", "explored.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"schema":"lockbench/report/v4","kind":"result","runs":[{"design":"d","cells":{"exclusion":{"verdict":"broken"}}}]}`))
	f.Add([]byte(`{"schema":"lockbench/report/v4","kind":"result","runs":[{"latency":{"acquire":{"count":1,"spectrum":{"shares":[1],"ns":[]}}},"over_time":{"bucket_ns":0}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := results.ReadAs[*results.Result](bytes.NewReader(text))
		if err != nil {
			return
		}
		if r, err := results.Merge(*read); err == nil {
			written(t, &r)
			pictures(t, &r)
		}
	})
}

// pageData finds the data of a page's charts.
var pageData = regexp.MustCompile(`(?s)<script type="application/json" id="lockbench-data">(.*?)</script>`)

// TestData checks that the data of the charts is within bounds that a browser can rely
// on.
func TestData(t *testing.T) {
	r := read(t, "run.json")
	r.Runs[0].Latency["release"] = results.Latency{Count: 3, Spectrum: &results.Spectrum{Shares: []float64{1}}}
	r.Runs[1].OverTime.BucketNS = 0
	var data struct {
		Runs []struct {
			Spectra  map[string]any `json:"spectra"`
			OverTime any            `json:"over_time"`
		} `json:"runs"`
	}
	page := written(t, r)
	if err := json.Unmarshal([]byte(pageData.FindStringSubmatch(page)[1]), &data); err != nil {
		t.Fatal(err)
	}
	if _, drawn := data.Runs[0].Spectra["release"]; drawn || len(data.Runs[0].Spectra) == 0 {
		t.Error("a curve with shares and no durations is drawn, or nothing is")
	}
	if data.Runs[1].OverTime != nil || strings.Contains(page, `data-chart="overtime" data-run="run-2"`) || data.Runs[0].OverTime == nil {
		t.Error("a series with buckets of no width is drawn, or none is")
	}
}
