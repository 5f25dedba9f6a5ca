package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
)

// A view is a result as the template shows it.
type view struct {
	Result         *reports.Result
	Title          string
	Headline, Why  string
	Tone           string // what it amounts to: good, mind, open or bad
	Explored       bool
	Runs           []runView
	Thresholds     []thresholdView
	Matrix         []matrixRow
	NotPut         []string // guarantees that nothing here was said of
	Troubles       []trouble
	Data           data
	Settings       []string
	HasResponse    bool // some run had a schedule of arrivals
	CompareSpectra bool
}

// A runView is one run, or one explored design, as the template shows it.
type runView struct {
	*reports.Run
	ID, Label string
	Tone      string
	Server    string
	Slow      bool // measured on the embedded server: not the design's speed
	Judged    []judgedView
	Evidence  []evidence
	Covered   []string
	Latencies []latencyRow
	Fair      *fairView
}

// A judgedView is one guarantee of a run.
type judgedView struct {
	Name   lockbench.Guarantee
	Means  string
	Detail string
	reports.Guarantee
}

// A matrixRow is one guarantee over all runs; a cell is nil where a run says nothing.
type matrixRow struct {
	Name  lockbench.Guarantee
	Means string
	Cells []*cell
}

type cell struct {
	reports.Guarantee
	Run, Link string // Link is the id of the evidence, empty for none
}

// A trouble is something that went wrong in a run itself.
type trouble struct{ Label, Kind, Text string }

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

// A thresholdView is a threshold with what it came to.
type thresholdView struct {
	Sign, Class, Word, Threshold, Values string
}

// thresholds lists the failed ones first.
func thresholds(r *reports.Result) (all []thresholdView) {
	for _, kind := range []thresholdView{{Sign: "✗", Class: "broken", Word: "failed"}, {Sign: "?", Class: "hazard", Word: "inconclusive"}, {Sign: "✓", Class: "held", Word: "passed"}} {
		for i := range r.Thresholds {
			if th := &r.Thresholds[i]; th.Outcome.String() == kind.Word {
				kind.Threshold, kind.Values = th.Threshold, r.Values(th)
				all = append(all, kind)
			}
		}
	}
	return all
}

func newView(r reports.Result) *view {
	v := &view{Explored: len(r.Runs) > 0 && r.Runs[0].Exploration != nil}
	v.Headline, v.Why = r.Outcome()
	designs := r.Designs()
	v.Result = &designs
	labels := designs.Labels()
	for i := range designs.Runs {
		run := newRunView(&designs, i, labels[i])
		if v.Explored {
			run.Covered = r.Explored(run.Design)
		}
		v.Runs = append(v.Runs, run)
		v.Data.Runs = append(v.Data.Runs, newRunData(&run))
		v.Troubles = append(v.Troubles, troubles(&run)...)
		v.HasResponse = v.HasResponse || run.Latency["lag"].Count > 0
	}
	v.Tone = tone(r.Exit, v.Runs)
	v.CompareSpectra = len(v.Runs) > 1 && !v.Explored
	v.Thresholds = thresholds(&designs)
	v.Title = title(&designs)
	v.matrix()
	if len(v.Runs) > 0 {
		v.Settings = settings(&designs)
	}
	return v
}

// tone is what an exit code and the runs behind it amount to at first sight: good is said
// only where nothing at all was broken, mind where nothing was that is claimed.
func tone(exit int, runs []runView) string {
	switch exit {
	case reports.Inconclusive:
		return "open"
	case reports.Passed:
		for i := range runs {
			if slices.ContainsFunc(runs[i].Judged, func(j judgedView) bool { return j.Verdict == checker.Broken }) {
				return "mind"
			}
		}
		return "good"
	}
	return "bad"
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

func newRunView(r *reports.Result, i int, label string) runView {
	run := &r.Runs[i]
	if t := run.OverTime; t != nil && (t.BucketNS <= 0 || t.EndNS/t.BucketNS > maxBuckets) {
		run.OverTime = nil // lockbench writes no such thing, but a file may say anything
	}
	v := runView{
		Run: run, ID: fmt.Sprintf("run-%d", i+1), Label: label,
		Server: r.Kind(run), Slow: run.Exploration == nil && strings.HasPrefix(r.Kind(run), "embedded"),
	}
	if version := r.Version(run); version != "" {
		v.Server += ", " + version
	}
	for _, g := range lockbench.Guarantees() {
		found, judged := run.Guarantees[g.Name]
		if judged && g.Name != lockbench.Fairness {
			v.Judged = append(v.Judged, judgedView{g.Name, g.HoldsWhen, found.Detail(), found})
		}
	}
	slices.SortStableFunc(v.Judged, func(a, b judgedView) int { return gravity(a) - gravity(b) })
	v.Tone = tone(run.Exit, []runView{v})
	v.Evidence = newEvidence(&v)
	v.Latencies = latencyRows(run)
	v.Fair = newFair(run)
	return v
}

// maxBuckets is more than a series of lockbench's has.
const maxBuckets = 4096

// gravity orders what is shown of a run: broken claims first, what was not put to the test
// last.
func gravity(j judgedView) int {
	switch {
	case j.Verdict == checker.Broken && j.Claimed:
		return 0
	case j.Verdict == checker.Broken:
		return 1
	case j.Verdict == checker.Hazard:
		return 2
	case j.Verdict == checker.Untested && j.Claimed && j.Exercised:
		return 3
	case j.Verdict == checker.Held:
		return 4
	case j.Verdict == checker.Untested:
		return 5
	}
	return 6
}

// Said tells whether a judgement belongs above the fold: something was seen.
func (j judgedView) Said() bool { return gravity(j) < 5 }

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
	found := run.Guarantees[lockbench.Fairness].Measures
	n := len(run.GrantsByClient)
	if found == nil || n == 0 {
		return nil
	}
	return &fairView{
		Jain: found["jain"], LongestNS: int64(found["max_wait_ns"]), Waits: int64(found["waits"]),
		MostBypassed: int64(found["max_bypassed"]),
		Clients:      int64(n), Least: run.GrantsByClient[0], Most: run.GrantsByClient[n-1],
	}
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

// matrix fills in the guarantees that some run says something of; the others are named.
func (v *view) matrix() {
	for _, g := range lockbench.Guarantees() {
		row, said := matrixRow{Name: g.Name, Means: g.HoldsWhen}, false
		for i := range v.Runs {
			c := v.Runs[i].cell(g.Name)
			said = said || c != nil && (judgedView{Guarantee: c.Guarantee}).Said()
			row.Cells = append(row.Cells, c)
		}
		switch {
		case g.Name == lockbench.Fairness:
		case said:
			v.Matrix = append(v.Matrix, row)
		default:
			v.NotPut = append(v.NotPut, string(g.Name))
		}
	}
}

func (r *runView) cell(name lockbench.Guarantee) *cell {
	g, judged := r.Guarantees[name]
	if !judged {
		return nil
	}
	c := &cell{Guarantee: g, Run: r.Label}
	for _, e := range r.Evidence {
		if e.Name == name {
			c.Link = e.ID
		}
	}
	return c
}

// Sign shows a verdict without colour, as in the matrix.
func (c *cell) Sign() string {
	s := judgedView{Guarantee: c.Guarantee}.Sign()
	if c.Claimed {
		s += "*"
	}
	return s
}

// Says is a verdict in words.
func (c *cell) Says() string {
	s := c.Verdict.String()
	if c.Verdict == checker.Untested && !c.Exercised {
		s = "not put to the test"
	}
	if c.Claimed {
		s += ", claimed"
	}
	if detail := c.Detail(); detail != "" {
		s += ": " + detail
	}
	return s
}

// Class is how a cell is coloured.
func (c *cell) Class() string { return judgedView{Guarantee: c.Guarantee}.Class() }

// Sign shows a verdict without colour.
func (j judgedView) Sign() string {
	switch j.Verdict {
	case checker.Held:
		return "✓"
	case checker.Broken:
		return "✗"
	case checker.Hazard:
		return "~"
	case checker.Untested:
		if j.Exercised {
			return "?"
		}
		return "·"
	}
	return "–"
}

// Class is how a verdict is coloured; a broken claim stands out.
func (j judgedView) Class() string {
	switch {
	case j.Verdict == checker.Broken && j.Claimed:
		return "broken claimed"
	case j.Verdict == checker.NotApplicable:
		return "none"
	}
	return j.Verdict.String()
}
