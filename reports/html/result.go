package html

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
)

var resultPage = newPage("result.html", "run.html")

// Write writes r as one HTML document. All that comes from r is escaped. The size of the
// document grows with the number of runs, not with their length. It returns the first
// error of w.
func Write(w io.Writer, r reports.Result) error { return resultPage.write(w, newResultView(r)) }

// A resultView is a result as the template shows it.
type resultView struct {
	frame
	Result         *reports.Result
	Explored       bool
	Runs           []runView
	Unclaimed      []unclaimed
	Thresholds     []thresholdView
	Table          tableView
	Troubles       []trouble
	Settings       []string
	HasResponse    bool // some run had a schedule of arrivals
	Granted        bool // some run was granted a lock
	CompareSpectra bool
}

// An unclaimed is a run that broke what it does not claim. It fails nothing, and is said at
// the top all the same.
type unclaimed struct {
	Label, ID string
	Broken    []string
}

// A trouble is something that went wrong in a run itself.
type trouble struct{ Label, Kind, Text string }

// A thresholdView is a threshold with what it came to.
type thresholdView struct {
	Sign, Class, Word, Threshold, Values string
}

// thresholdViews lists the failed ones first.
func thresholdViews(r *reports.Result) (all []thresholdView) {
	for _, kind := range []thresholdView{{Sign: "✗", Class: "broken", Word: "failed"}, {Sign: "?", Class: "weak", Word: "inconclusive"}, {Sign: "✓", Class: "held", Word: "passed"}} {
		for i := range r.Thresholds {
			if th := &r.Thresholds[i]; th.Outcome.String() == kind.Word {
				kind.Threshold, kind.Values = th.Threshold, r.Values(th)
				all = append(all, kind)
			}
		}
	}
	return all
}

func newResultView(r reports.Result) *resultView {
	designs := r.Designs()
	v := &resultView{
		frame: frame{
			Kind: "report", Title: title(&designs), Exit: r.Exit, Version: r.Environment.Version,
			Scripts: []string{chartLibrary, "base.js", "charts.js", "lanes.js"},
			Data:    newData(),
		},
		Result: &designs, Explored: len(r.Runs) > 0 && r.Runs[0].Exploration != nil,
		Thresholds: thresholdViews(&designs),
	}
	v.Headline, v.Why = r.Verdict()
	if v.Explored {
		v.Kind = "exploration"
	}
	for i, label := range designs.Labels() {
		run := newRunView(&designs, i, label)
		if v.Explored {
			run.Covered = r.Explored(run.Design)
		}
		v.add(run)
	}
	v.CompareSpectra = len(v.Runs) > 1 && !v.Explored
	for i := range v.Runs {
		v.Runs[i].Many = len(v.Runs) > 1
	}
	v.Table = v.table()
	if len(v.Runs) > 0 {
		v.Settings = settings(&designs)
	}
	return v
}

// add takes up a run.
func (v *resultView) add(run runView) {
	v.Runs = append(v.Runs, run)
	v.Data.Runs = append(v.Data.Runs, newRunData(&run))
	v.Data.show(run.Evidence)
	v.Troubles = append(v.Troubles, troubles(&run)...)
	v.HasResponse = v.HasResponse || run.Latency["lag"].Count > 0
	v.Granted = v.Granted || run.Grants > 0
	u := unclaimed{Label: run.Label, ID: run.ID}
	for _, j := range run.Judged {
		if j.Verdict == checker.Broken && j.Against == 0 {
			u.Broken = append(u.Broken, j.Name())
		}
	}
	if len(u.Broken) > 0 {
		v.Unclaimed = append(v.Unclaimed, u)
	}
}

func title(r *reports.Result) string {
	switch n := len(r.Runs); {
	case n == 0:
		return "nothing was run"
	case n == 1:
		return r.Labels()[0]
	default:
		return fmt.Sprintf("%d locks", n)
	}
}

// settings are those of the first run, with what it shares with the others.
func settings(r *reports.Result) []string {
	first := &r.Runs[0]
	same := func(of func(*reports.Run) string) bool {
		return !slices.ContainsFunc(r.Runs, func(run reports.Run) bool { return of(&run) != of(first) })
	}
	var parts []string
	if first.Workload != "" && same(func(run *reports.Run) string { return run.Workload }) {
		parts = append(parts, "workload "+first.Workload)
	}
	joined := func(run *reports.Run) string { return strings.Join(run.Settings(), ", ") }
	if same(joined) {
		parts = append(parts, first.Settings()...)
	}
	if first.Seed != 0 && same(func(run *reports.Run) string { return fmt.Sprint(run.Seed) }) {
		parts = append(parts, fmt.Sprintf("seed %d", first.Seed))
	}
	return parts
}

func troubles(run *runView) (all []trouble) {
	add := func(kind, text string) { all = append(all, trouble{run.Label, kind, text}) }
	for _, d := range run.Defects {
		add("defect of lockbench", d)
	}
	if run.Error != "" {
		add("error", run.Error)
	}
	if run.Partial {
		add("partial", run.Why+"; what was recorded before is judged")
	}
	for _, note := range run.Notes {
		add("note", note)
	}
	return all
}

// table is that of the one run, or a line for each.
func (v *resultView) table() tableView {
	t := v.Result.Guarantees()
	if len(v.Runs) == 1 {
		v.Runs[0].Table.Corner = t.Corner
		return v.Runs[0].Table
	}
	return newTable(t, func(i int) string { return v.Runs[i].ID }, func(i int, about lockbench.Cell) string { return v.Runs[i].link(about) })
}
