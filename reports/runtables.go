package reports

import (
	"slices"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// A runColumn is one column of a table of runs.
type runColumn struct {
	document.Column
	value func(*summary, *results.Run) document.Value
}

// speedColumns are the columns of the first table.
var speedColumns = []runColumn{
	number("", "grants/s", (*summary).rate),
	latency("acquire", "p50", "acquire", p50).apart(),
	latency("", "p90", "acquire", p90).spare(1),
	latency("", "p99", "acquire", p99),
	latency("", "p99.9", "acquire", p999).spare(2).inWhole(),
	latency("", "max", "acquire", longest),
	latency("release", "p99", "release", p99).apart().spare(5).inWhole(),
	latency("hand-", "off p50", "handoff", p50).apart().spare(6),
	{document.Column{Name: "breaches", Number: true, Apart: true}, func(_ *summary, r *results.Run) document.Value { return breaches(r) }},
	number("worst", "overlap", func(_ *summary, r *results.Run) string { return figures.Duration(r.WorstOverlap, r.WorstOverlap) }).spare(7).inWhole(),
}

// costColumns are the columns of the table of costs per grant.
var costColumns = []runColumn{
	number("", "tries", func(_ *summary, r *results.Run) string { return figures.Rate(r.Attempts) }),
	number("", "commands", func(_ *summary, r *results.Run) string { return figures.Rate(r.Commands) }),
	number("bytes", "sent", func(_ *summary, r *results.Run) string { return known(r, r.Sent, figures.Rate) }).apart(),
	number("", "received", func(_ *summary, r *results.Run) string { return known(r, r.Received, figures.Rate) }),
	number("connec-", "tions", func(_ *summary, r *results.Run) string { return connections(r) }).apart(),
	number("server", "time", func(_ *summary, r *results.Run) string { return known(r, r.ServerCPU, brief) }).apart(),
	latency("hand-off", "p90", "handoff", p90).apart().spare(1),
	latency("", "p99", "handoff", p99),
	latency("", "max", "handoff", longest).spare(2),
}

// arrivalColumns are the columns of the table of open loops. In the first table the latency of
// acquires counts from the intended start.
var arrivalColumns = []runColumn{
	number("offered", "/s", func(_ *summary, r *results.Run) string { return figures.Rate(r.OpenLoop.OfferedPerS) }),
	number("begun", "/s", func(_ *summary, r *results.Run) string { return figures.Rate(r.OpenLoop.StartedPerS) }),
	number("answered", "/s", func(_ *summary, r *results.Run) string { return figures.Rate(r.OpenLoop.AnsweredPerS) }).spare(4),
	latency("service", "p50", "service", p50).apart(),
	latency("", "p90", "service", p90).spare(2),
	latency("", "p99", "service", p99),
	latency("", "p99.9", "service", p999).spare(1),
	latency("", "max", "service", longest),
	latency("lag", "p50", "lag", p50).apart(),
	latency("", "p99", "lag", p99),
	latency("", "max", "lag", longest),
	{document.Column{Above: "still", Name: "waiting", Number: true, Spare: 3, Apart: true}, func(_ *summary, r *results.Run) document.Value { return waiting(r.OpenLoop) }},
}

// number returns a column of right-aligned figures with the heading name, below the heading above of
// its group. text returns the figure of a run.
func number(above, name string, text func(*summary, *results.Run) string) runColumn {
	return runColumn{document.Column{Above: above, Name: name, Number: true}, func(s *summary, r *results.Run) document.Value {
		return document.Value{Text: text(s, r)}
	}}
}

// latency returns a column of one percentile.
func latency(above, name, op string, pick func(results.Latency) int64) runColumn {
	return number(above, name, func(_ *summary, r *results.Run) string {
		l := r.Latency[op]
		return figures.Duration(l.Count, pick(l))
	})
}

func (c runColumn) apart() runColumn      { c.Apart = true; return c }
func (c runColumn) spare(n int) runColumn { c.Spare = n; return c }
func (c runColumn) inWhole() runColumn    { c.Length = document.Whole; return c }

// The figures of a latency.
func p50(l results.Latency) int64     { return l.P50 }
func p90(l results.Latency) int64     { return l.P90 }
func p99(l results.Latency) int64     { return l.P99 }
func p999(l results.Latency) int64    { return l.P999 }
func longest(l results.Latency) int64 { return l.Max }

// table returns a table with a row for each matching run and a column for each figure.
func (s *summary) table(corner string, columns []runColumn, notes []string, of func(*results.Run) bool) *document.Table {
	t := &document.Table{Corner: corner, Notes: notes}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for i, label := range labels(s.result) {
		run := &s.result.Runs[i]
		if !of(run) {
			continue
		}
		row := document.Row{Name: label, Link: runID(i)}
		if run.Partial {
			row.Name += " (partial)"
		}
		for _, c := range columns {
			row.Cells = append(row.Cells, c.value(s, run))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func anyRun(*results.Run) bool { return true }

// speeds returns the table of the speeds of runs.
func (s *summary) speeds() *document.Table {
	return s.table("design", append(slices.Clip(speedColumns), s.damageColumn()...), append(s.controlNote(), []string{
		"acquire: of those granted", "hand-off: release to the next grant, somebody waiting",
		"breaches: of all guarantees, claimed or not", "overlap: two owners at once, also past a lease",
	}...), anyRun)
}

func (s *summary) rate(r *results.Run) string {
	return results.Speed(r.GrantsPerS, s.result.ServerOf(r))
}

func breaches(r *results.Run) document.Value {
	switch {
	case r.Counts.Ops == 0:
		return document.Value{Text: "-"}
	case r.Breaches == 0:
		return document.Value{Text: "0"}
	}
	return document.Value{Text: figures.Number(r.Breaches), Tone: document.Weak}
}

// costs returns the table of costs per grant, if any lock was granted.
func (s *summary) costs() *document.Table {
	t := s.table("a grant costs", costColumns, []string{
		"bytes: on the design's connections", "connections: the most that were open at once", "server time: of its processor, for all it did, ? where nobody knows",
	}, anyRun)
	for i := range s.result.Runs {
		if s.result.Runs[i].Grants > 0 {
			return t
		}
	}
	return &document.Table{}
}

// unknownFigure stands for a figure that applies but is unknown.
const unknownFigure = "?"

// known formats a cost per grant with show. It returns a dash without grants, and unknownFigure if
// the cost is unknown.
func known(r *results.Run, cost *float64, show func(float64) string) string {
	switch {
	case r.Grants == 0:
		return "-"
	case cost == nil:
		return unknownFigure
	}
	return show(*cost)
}

// connections returns the largest number of connections that were open at once.
func connections(r *results.Run) string {
	if r.Connections == 0 {
		return unknownFigure
	}
	return figures.Number(r.Connections)
}

func brief(ns float64) string { return figures.Compact(int64(ns)) }

func waiting(l *results.OpenLoop) document.Value {
	switch {
	case l.Waiting == 0:
		return document.Value{Text: "-"}
	case l.KeptUp:
		return document.Value{Text: figures.Number(l.Waiting)}
	}
	return document.Value{Text: figures.Number(l.Waiting), Tone: document.Weak}
}

// arrivals returns the additional table of open loops.
func (s *summary) arrivals() []document.Block {
	open := func(r *results.Run) bool { return r.OpenLoop != nil }
	t := s.table("open loop", arrivalColumns, []string{"open loop: acquire and refused count from the intended start, service from the call, lag is between"}, open)
	if len(t.Rows) == 0 {
		return nil
	}
	l := &document.List{}
	for i := range s.result.Runs {
		if run := &s.result.Runs[i]; run.OpenLoop != nil && run.OpenLoop.Why != "" {
			l.Items = append(l.Items, document.Item{Word: "did not keep up", Tone: document.Weak, Text: s.label.Of(run) + ": " + run.OpenLoop.Why})
		}
	}
	return []document.Block{t, l}
}
