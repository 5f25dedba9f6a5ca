package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/reports"
)

// A runView is one run, or one explored design, as the template shows it.
type runView struct {
	*reports.Run
	ID, Label string
	Server    string
	Slow      bool // measured on the embedded server: not the design's speed
	Judged    []judgement
	Evidence  []evidence
	Covered   []string
	Table     tableView
	Many      bool // the page is of several, and this is a part of it
	Latencies []latencyRow
	Fair      *fairView
}

// A latencyRow is one line of the table of latencies.
type latencyRow struct {
	Name, Means string
	reports.Latency
}

// A fairView is what was measured of fairness.
type fairView struct {
	Jain                 float64
	LongestNS            int64
	Waits, MostBypassed  int64
	Clients, Least, Most int64
}

// maxBuckets is more than a series of lockbench's has.
const maxBuckets = 4096

func newRunView(r *reports.Result, i int, label string) runView {
	run := &r.Runs[i]
	if t := run.OverTime; t != nil && (t.BucketNS <= 0 || t.EndNS/t.BucketNS > maxBuckets) {
		run.OverTime = nil // lockbench writes no such thing, but a file may say anything
	}
	v := runView{
		Run: run, ID: fmt.Sprintf("run-%d", i+1), Label: label,
		Server: r.Kind(run), Slow: run.Exploration == nil && strings.HasPrefix(r.Kind(run), "embedded"),
		Latencies: latencyRows(run), Fair: newFair(run),
	}
	if version := r.Version(run); version != "" {
		v.Server += ", " + version
	}
	for _, cell := range run.Cells.Sorted() {
		v.Judged = append(v.Judged, judgement{Cell: cell, Finding: run.Cells[cell], Reason: run.Reason(cell)})
	}
	slices.SortStableFunc(v.Judged, func(a, b judgement) int { return a.gravity() - b.gravity() })
	for _, j := range v.Judged {
		if j.shown() {
			v.Evidence = appendEvidence(v.Evidence, newEvidence(v.evidenceOf(j.Cell), j))
		}
	}
	v.Table = newTable(run.GuaranteeTable("conditions"), unlinked, func(_ int, about lockbench.Cell) string { return v.link(about) })
	return v
}

// Tone is what came of the run at first sight.
func (r *runView) Tone() string { return tone(r.Exit) }

// evidenceOf is the id that the evidence of a cell has, if there is any.
func (r *runView) evidenceOf(cell lockbench.Cell) string { return r.ID + "-" + idOf(cell) }

// link is the id of the evidence of a cell, empty for none.
func (r *runView) link(cell lockbench.Cell) string {
	for _, e := range r.Evidence {
		if e.Cell == cell {
			return e.ID
		}
	}
	return ""
}

var latencyNames = []struct{ op, name, means string }{
	{"acquire", "acquire", "call to grant"},
	{"service", "acquire, service time", "from the call to the grant: what the lock took"},
	{"lag", "start lag", "how late acquires were started"},
	{"refused", "refused", "acquires that were refused"},
	{"release", "release", "call to answer"},
	{"extend", "extend", "call to answer"},
	{"handoff", "hand-off", "a release's call to the next grant, somebody waiting"},
	{"hold", "hold", "a grant to the release's call"},
}

// latencyRows leaves out what did not happen, and the service time where every acquire
// started as intended: it is the response time then.
func latencyRows(run *reports.Run) []latencyRow {
	open := run.Latency["lag"].Count > 0
	var rows []latencyRow
	for _, l := range latencyNames {
		found := run.Latency[l.op]
		if found.Count == 0 || l.op == "service" && !open {
			continue
		}
		if l.op == "acquire" && open {
			l.name, l.means = "acquire, response time", "from the intended start to the grant: what callers waited"
		}
		rows = append(rows, latencyRow{l.name, l.means, found})
	}
	return rows
}

func newFair(run *reports.Run) *fairView {
	n := len(run.GrantsByClient)
	if n == 0 {
		return nil
	}
	f := &run.Fairness
	return &fairView{
		Jain: f.Jain, LongestNS: f.MaxWait, Waits: f.Waits, MostBypassed: f.MaxBypassed,
		Clients: int64(n), Least: run.GrantsByClient[0], Most: run.GrantsByClient[n-1],
	}
}
