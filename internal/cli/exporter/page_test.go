package exporter

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

var update = flag.Bool("update", false, "write the table of metrics into the page")

// page is the documentation of the metrics.
const page = "../../../docs/monitoring.md"

// everything makes a run that gives every family a series.
func everything(e *Exporter) {
	r := aRun(e)
	for _, op := range []history.Op{
		{Kind: history.Acquire, Outcome: history.OK, Key: "l", Hold: 3, Client: 3, Attempts: 1, Call: 100 * ms, Return: 101 * ms},
		{Kind: history.Extend, Outcome: history.OK, Key: "l", Hold: 3, Client: 3, Call: 102 * ms, Return: 103 * ms},
	} {
		add(r, op)
	}
	// One client waits while the other releases.
	waiting := history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "l", Hold: 4, Client: 4, Attempts: 1, Call: 104 * ms, Return: 107 * ms}
	r.Add(history.Event{Phase: history.Call, Op: &waiting})
	add(r, history.Op{Kind: history.Release, Outcome: history.OK, Key: "l", Hold: 3, Client: 3, Call: 105 * ms, Return: 106 * ms})
	r.Add(history.Event{Phase: history.Return, Op: &waiting})
	for _, op := range []history.Op{
		{Kind: history.Acquire, Outcome: history.OK, Key: "l", Hold: 5, Client: 3, Attempts: 1, Call: 108 * ms, Return: 109 * ms}, // it overtakes, and the other is told of its loss
		{Kind: history.Release, Outcome: history.LossReported, Key: "l", Hold: 4, Client: 4, Call: 110 * ms, Return: 111 * ms},
		{Kind: history.Acquire, Outcome: history.Unknown, Key: "m", Client: 3, Attempts: 1, Call: 112 * ms, Return: 113 * ms}, // it leaves the key taken
		{Kind: history.Acquire, Outcome: history.Refused, Key: "m", Client: 4, Attempts: 1, Call: 114 * ms, Return: 115 * ms},
		{Kind: history.Acquire, Outcome: history.OK, Key: "m", Hold: 6, Client: 4, Attempts: 1, Call: 116 * ms, Return: 117 * ms},
	} {
		add(r, op)
	}
	r.Settle(&runinfo.Business{Figures: map[string]int64{"sold": 1}})
	r.Over([]checker.CellFinding{})
}

func add(r *Run, op history.Op) {
	r.Add(history.Event{Phase: history.Call, Op: &op})
	r.Add(history.Event{Phase: history.Return, Op: &op})
}

func families(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	e := New(1)
	everything(e)
	all, err := e.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(all), len(durationNames)+len(tallies)+len(others); got != want {
		t.Fatalf("a scrape has %d families, want all %d: the run of this test does not show them", got, want)
	}
	return all
}

var table = regexp.MustCompile(`(?s)(<!-- metrics: [^>]*-->\n)(.*?)(<!-- /metrics -->)`)

// TestPage compares the table of the page with a scrape.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	parts := table.FindSubmatch(text)
	if parts == nil {
		t.Fatalf("%s has no table of metrics", page)
	}
	want := tableOf(families(t))
	if string(parts[2]) == want {
		return
	}
	if !*update {
		t.Fatalf("%s has another table of metrics than a scrape; -update writes\n%s", page, want)
	}
	text = table.ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(want, "$", "$$")+"${3}"))
	if err := os.WriteFile(page, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func tableOf(all []*dto.MetricFamily) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, f := range all {
		kind := strings.ToLower(f.GetType().String())
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.GetName(), kind, ownLabels(f), f.GetHelp())
	}
	return b.String()
}

// ownLabels returns the labels that not every series of a run has.
func ownLabels(f *dto.MetricFamily) string {
	labels := f.Metric[0].Label
	if len(labels) == 0 {
		return "none"
	}
	var own []string
	for _, l := range labels {
		if !slices.Contains(subjectLabels, l.GetName()) {
			own = append(own, "`"+l.GetName()+"`")
		}
	}
	return strings.Join(own, ", ")
}

var (
	queries  = regexp.MustCompile("(?s)```promql\n(.*?)```")
	selector = regexp.MustCompile(`\blockbench_[a-z_]+`)
	grouping = regexp.MustCompile(`by \(([a-z, ]+)\)`)
)

// TestPageQueries looks for the names in the page's queries in a scrape.
func TestPageQueries(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	series, labels := namesIn(families(t))
	asked := 0
	for _, m := range queries.FindAllStringSubmatch(string(text), -1) {
		for _, name := range selector.FindAllString(m[1], -1) {
			asked++
			if !slices.Contains(series, name) {
				t.Errorf("the page asks for %s, and no scrape has it", name)
			}
		}
		for _, by := range grouping.FindAllStringSubmatch(m[1], -1) {
			for _, label := range strings.Split(by[1], ", ") {
				if !slices.Contains(labels, label) {
					t.Errorf("the page groups by %s, and no series has it", label)
				}
			}
		}
	}
	if asked < 3 {
		t.Errorf("the page has %d names in queries, want 3 at least: has its form changed?", asked)
	}
}

// namesIn returns the series and labels that queries may name.
func namesIn(all []*dto.MetricFamily) (series, labels []string) {
	labels = []string{"le"}
	for _, f := range all {
		series = append(series, f.GetName())
		if f.GetType() == dto.MetricType_HISTOGRAM {
			series = append(series, f.GetName()+"_bucket", f.GetName()+"_sum", f.GetName()+"_count")
		}
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
	}
	return series, labels
}
