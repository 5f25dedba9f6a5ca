package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/internal/results"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// A sweepColumn is one figure of each point of a sweep, for people and for programs.
type sweepColumn struct {
	head, name  string
	show, value func(*results.Run) string
}

// sweepColumns are what every point of a sweep shows, after its design.
var sweepColumns = []sweepColumn{
	{"clients", "clients", sweepParam("clients"), sweepParam("clients")},
	{"keys", "keys", sweepParam("keys"), sweepParam("keys")},
	{"grants/s", "grants_per_s", func(r *results.Run) string { return figures.Rate(r.GrantsPerS) }, func(r *results.Run) string { return decimal(r.GrantsPerS) }},
	sweepLatency("p50", "acquire_p50_ns", "acquire", p50),
	sweepLatency("p99", "acquire_p99_ns", "acquire", p99),
	sweepLatency("hand-off", "handoff_p50_ns", "handoff", p50),
	sweepLatency("p99", "handoff_p99_ns", "handoff", p99),
	{"refused", "refused_share", func(r *results.Run) string { return fmt.Sprintf("%.1f%%", 100*refusedShare(r)) }, func(r *results.Run) string { return decimal(refusedShare(r)) }},
	{"tries", "attempts_per_grant", func(r *results.Run) string { return figures.Rate(r.Attempts) }, func(r *results.Run) string { return decimal(r.Attempts) }},
	{"commands", "commands_per_grant", func(r *results.Run) string { return figures.Rate(r.Commands) }, func(r *results.Run) string { return decimal(r.Commands) }},
	{"fairness", "jain", fairness("%.2f"), fairness("%g")},
	{"broken", "broken_claims", brokenClaims, brokenClaims},
}

func sweepParam(name string) func(*results.Run) string {
	return func(r *results.Run) string { return fmt.Sprint(r.Params[name]) }
}

func sweepLatency(head, name, op string, pick func(results.Latency) int64) sweepColumn {
	return sweepColumn{
		head: head, name: name,
		show: func(r *results.Run) string { return figures.Duration(r.Latency[op].Count, pick(r.Latency[op])) },
		value: func(r *results.Run) string {
			if r.Latency[op].Count == 0 {
				return ""
			}
			return strconv.FormatInt(pick(r.Latency[op]), 10)
		},
	}
}

// decimal renders a figure for programs.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

func refusedShare(r *results.Run) float64 {
	if all := r.Counts.Grants + r.Counts.Refused; all > 0 {
		return float64(r.Counts.Refused) / float64(all)
	}
	return 0
}

// fairness is Jain's index of the clients' grants.
func fairness(format string) func(*results.Run) string {
	return func(r *results.Run) string {
		if r.Fairness.Jain > 0 {
			return fmt.Sprintf(format, r.Fairness.Jain)
		}
		return ""
	}
}

// brokenClaims names the cells that were broken against a claim.
func brokenClaims(r *results.Run) string {
	names := r.Cells.Failing()
	return strings.ReplaceAll(list(names), ",", "")
}

// writeCSV writes the points of a sweep as comma-separated values with a head, latencies
// in ns; a figure that was not measured is empty. It returns the first error of w.
func writeCSV(w io.Writer, r *results.Result) error {
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

// sweepDocument is what reports show of a sweep: a table of its points, a chart of the rate of
// each design by clients, and the outcome.
func sweepDocument(r *results.Result) *document.Document {
	s := resultSummary(r)
	s.label, s.unit = results.Label{Points: true}, "point"
	d := &document.Document{Kind: "sweep", Title: s.title(), Version: r.Environment.Version}
	s.conclude(d)
	if len(r.Runs) > 0 {
		d.Blocks = append([]document.Block{&document.Paragraph{Facts: s.heading()}}, s.servers()...)
	}
	d.Blocks = append(d.Blocks, s.points())
	for _, design := range s.swept() {
		lines, clients := s.lines(design)
		if len(clients) > 1 { // one point is no line
			d.Blocks = append(d.Blocks, &document.Chart{Kind: "rates", Title: design, Caption: "grants/s by clients", X: clients, Lines: lines})
		}
	}
	d.Blocks = append(d.Blocks, s.troubles(), s.stillness(), s.errors(), s.each("claims that were broken", results.Cells.Fails), s.selfCheck())
	return d
}

// points is the table of a sweep.
func (s *summary) points() *document.Table {
	table := &document.Table{Corner: "design", Notes: []string{
		"waits and hand-offs are medians and 99th percentiles", "tries and commands are per grant",
		"fairness is Jain's index, 1 when all clients got as many",
	}}
	for _, c := range sweepColumns {
		table.Columns = append(table.Columns, document.Column{Name: c.head, Number: c.name != "broken_claims"})
	}
	for i := range s.result.Runs {
		row := document.Row{Name: s.result.Runs[i].Design}
		for _, c := range sweepColumns {
			row.Cells = append(row.Cells, document.Value{Text: c.show(&s.result.Runs[i])})
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// swept are those of the sweep, in order.
func (s *summary) swept() (names []string) {
	for i := range s.result.Runs {
		if name := s.result.Runs[i].Design; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// lines are the rates of a design, and the numbers of clients they are of.
func (s *summary) lines(design string) (all []document.Line, clients []string) {
	for i := range s.result.Runs {
		r := &s.result.Runs[i]
		if r.Design != design {
			continue
		}
		at := slices.IndexFunc(all, func(l document.Line) bool { return l.Label == keysOf(sweepParam("keys")(r)) })
		if at < 0 {
			at = len(all)
			all = append(all, document.Line{Label: keysOf(sweepParam("keys")(r))})
		}
		all[at].Values = append(all[at].Values, r.GrantsPerS)
		if at == 0 {
			clients = append(clients, sweepParam("clients")(r))
		}
	}
	return slices.DeleteFunc(all, func(l document.Line) bool { return len(l.Values) != len(clients) }), clients
}

func keysOf(n string) string {
	if n == "1" {
		return "1 key"
	}
	return n + " keys"
}
