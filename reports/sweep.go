package reports

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/lockbench/lockbench"
)

// A sweepColumn is one figure of each point of a sweep, for people and for programs.
type sweepColumn struct {
	head, name  string
	show, value func(*Run) string
}

// sweepColumns are what every point of a sweep shows, after its design.
var sweepColumns = []sweepColumn{
	{"clients", "clients", sweepParam("clients"), sweepParam("clients")},
	{"keys", "keys", sweepParam("keys"), sweepParam("keys")},
	{"grants/s", "grants_per_s", func(r *Run) string { return figure(r.GrantsPerS) }, func(r *Run) string { return decimal(r.GrantsPerS) }},
	sweepLatency("p50", "acquire_p50_ns", "acquire", p50),
	sweepLatency("p99", "acquire_p99_ns", "acquire", p99),
	sweepLatency("hand-off", "handoff_p50_ns", "handoff", p50),
	sweepLatency("p99", "handoff_p99_ns", "handoff", p99),
	{"refused", "refused_share", func(r *Run) string { return fmt.Sprintf("%.1f%%", 100*r.refusedShare()) }, func(r *Run) string { return decimal(r.refusedShare()) }},
	{"tries", "attempts_per_grant", func(r *Run) string { return figure(r.Attempts) }, func(r *Run) string { return decimal(r.Attempts) }},
	{"commands", "commands_per_grant", func(r *Run) string { return figure(r.Commands) }, func(r *Run) string { return decimal(r.Commands) }},
	{"fairness", "jain", fairness("%.2f"), fairness("%g")},
	{"broken", "broken_claims", brokenClaims, brokenClaims},
}

func sweepParam(name string) func(*Run) string {
	return func(r *Run) string { return fmt.Sprint(r.Params[name]) }
}

func sweepLatency(head, name, op string, pick func(Latency) int64) sweepColumn {
	return sweepColumn{
		head: head, name: name,
		show: func(r *Run) string { return duration(r.Latency[op].Count, pick(r.Latency[op])) },
		value: func(r *Run) string {
			if r.Latency[op].Count == 0 {
				return ""
			}
			return strconv.FormatInt(pick(r.Latency[op]), 10)
		},
	}
}

// decimal renders a figure for programs.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

func (r *Run) refusedShare() float64 {
	if all := r.Counts.Grants + r.Counts.Refused; all > 0 {
		return float64(r.Counts.Refused) / float64(all)
	}
	return 0
}

// fairness is Jain's index of the clients' grants.
func fairness(format string) func(*Run) string {
	return func(r *Run) string {
		if r.Fairness.Jain > 0 {
			return fmt.Sprintf(format, r.Fairness.Jain)
		}
		return ""
	}
}

// brokenClaims names the cells that were broken against a claim.
func brokenClaims(r *Run) string {
	names := r.Cells.names(func(_ lockbench.Cell, f Finding) bool { return f.fails() })
	return strings.ReplaceAll(list(names), ",", "")
}

// SweepCSV writes the points of a sweep as comma-separated values with a head, latencies
// in ns; a figure that was not measured is empty. It returns the first error of w.
func SweepCSV(w io.Writer, r Result) error {
	out := csv.NewWriter(w)
	head := []string{"design"}
	for _, c := range sweepColumns {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	for i := range r.Runs {
		row := []string{r.Runs[i].Design}
		for _, c := range sweepColumns {
			row = append(row, c.value(&r.Runs[i]))
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}

// TerminalSweep writes a sweep for people: a table of its points, a chart of the rate of
// each design by clients, and the outcome in one sentence. It returns the first error of w.
func TerminalSweep(w io.Writer, r Result, opt TerminalOptions) error {
	t := &sweep{&terminal{
		page: newPage(w, opt), result: &r,
		label: label{points: true}, exercisedBy: "this workload", unit: "point",
	}}
	t.heading()
	if err := t.points(); err != nil {
		return err
	}
	t.printf("\nwaits and hand-offs are medians and 99th percentiles; tries and commands are per grant; fairness is Jain's index, 1 when all clients got as many\n")
	for _, design := range t.designs() {
		t.chart(design)
	}
	t.troubles()
	t.each("claims that were broken", Cells.fails)
	t.selfCheck()
	t.outcome()
	return t.Flush()
}

// sweep is a sweep being written.
type sweep struct{ *terminal }

func (t *sweep) points() error {
	head := []string{"design"}
	for _, c := range sweepColumns {
		head = append(head, c.head)
	}
	var text bytes.Buffer
	tab := plainTable(&text, head, len(head)-1)
	for i := range t.result.Runs {
		row := []string{t.result.Runs[i].Design}
		for _, c := range sweepColumns {
			row = append(row, c.show(&t.result.Runs[i]))
		}
		if err := tab.Append(row); err != nil {
			return err
		}
	}
	if err := tab.Render(); err != nil {
		return err
	}
	return writeTrimmed(t.Writer, text.String())
}

// designs are those of the sweep, in order.
func (t *sweep) designs() (names []string) {
	for i := range t.result.Runs {
		if name := t.result.Runs[i].Design; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// A line is the rates of one number of keys, by clients.
type line struct {
	keys  string
	rates []float64
}

// lines are the rates of a design, and the numbers of clients they are of.
func (t *sweep) lines(design string) (all []line, clients []string) {
	for i := range t.result.Runs {
		r := &t.result.Runs[i]
		if r.Design != design {
			continue
		}
		at := slices.IndexFunc(all, func(l line) bool { return l.keys == sweepParam("keys")(r) })
		if at < 0 {
			at = len(all)
			all = append(all, line{keys: sweepParam("keys")(r)})
		}
		all[at].rates = append(all[at].rates, r.GrantsPerS)
		if at == 0 {
			clients = append(clients, sweepParam("clients")(r))
		}
	}
	return slices.DeleteFunc(all, func(l line) bool { return len(l.rates) != len(clients) }), clients
}

// The size of a chart, and what its lines are drawn with: colour is not the only sign.
const (
	chartHeight = 10
	chartWidth  = 60
)

var (
	chartMarks  = []string{"*", "o", "+", "x", "#", "@", "%", "&"}
	chartColors = []asciigraph.AnsiColor{asciigraph.Blue, asciigraph.Green, asciigraph.Red, asciigraph.Yellow, asciigraph.Purple, asciigraph.Cyan, asciigraph.White, asciigraph.Gray}
)

// chart draws the rates of a design by clients, a line for each number of keys.
func (t *sweep) chart(design string) {
	lines, clients := t.lines(design)
	if len(clients) < 2 {
		return // one point is no line
	}
	var data [][]float64
	var legends []string
	var marks []asciigraph.CharSet
	var colors []asciigraph.AnsiColor
	for i, l := range lines {
		mark := chartMarks[i%len(chartMarks)]
		data = append(data, l.rates)
		legends = append(legends, mark+" "+keysOf(l.keys))
		marks = append(marks, asciigraph.CreateCharSet(mark))
		colors = append(colors, chartColors[i%len(chartColors)])
	}
	options := []asciigraph.Option{
		asciigraph.Height(chartHeight), asciigraph.Width(chartWidth), asciigraph.LowerBound(0),
		asciigraph.SeriesChars(marks...),
		asciigraph.YAxisValueFormatter(func(v float64) string { return number(int64(v)) }),
		asciigraph.XAxisRange(0, float64(len(clients)-1)), asciigraph.XAxisTickCount(len(clients)),
		asciigraph.XAxisValueFormatter(func(v float64) string { return clients[min(max(0, int(v+0.5)), len(clients)-1)] }),
	}
	if t.palette {
		options = append(options, asciigraph.SeriesColors(colors...), asciigraph.SeriesLegends(legends...))
	}
	t.printf("\n%s: grants/s by clients; %s\n\n", t.bold(design), strings.Join(legends, ", "))
	t.printf("%s\n", asciigraph.PlotMany(data, options...))
}

func keysOf(n string) string {
	if n == "1" {
		return "1 key"
	}
	return n + " keys"
}
