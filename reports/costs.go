package reports

// costColumns are those of the table of what a grant costs.
var costColumns = []column{
	{name: "a grant costs", cell: (*table).design},
	{name: "tries", cell: func(_ *table, r *Run) string { return figure(r.Attempts) }},
	{name: "commands", cell: func(_ *table, r *Run) string { return figure(r.Commands) }},
	{top: "bytes", name: "sent", cell: func(_ *table, r *Run) string { return known(r, r.Sent, figure) }, apart: true},
	{top: "", name: "received", cell: func(_ *table, r *Run) string { return known(r, r.Received, figure) }},
	{top: "server", name: "time", cell: func(_ *table, r *Run) string { return known(r, r.ServerCPU, brief) }, apart: true},
	{top: "wake-up", name: "p50", cell: latency("handoff", p50), apart: true},
	{name: "p90", cell: latency("handoff", p90), spare: 1},
	{name: "p99", cell: latency("handoff", p99)},
	{name: "max", cell: latency("handoff", longest), spare: 2},
}

// unknownFigure stands for one that there is, and that nobody knows.
const unknownFigure = "?"

// known shows a cost, where it is known, of a run with grants.
func known(r *Run, cost *float64, show func(float64) string) string {
	switch {
	case r.Grants == 0:
		return "-"
	case cost == nil:
		return unknownFigure
	}
	return show(*cost)
}

func brief(ns float64) string { return compact(int64(ns)) }

// costs writes what a grant costs, where anything was granted.
func (t *terminal) costs(width int) error {
	granted := false
	for i := range t.result.Runs {
		granted = granted || t.result.Runs[i].Grants > 0
	}
	if !granted {
		return nil
	}
	t.printf("\n")
	tab := table{palette: t.palette, result: t.result, label: t.label}
	if err := tab.render(t.Writer, costColumns, width); err != nil {
		return err
	}
	t.printf("\n%s\n%s\n",
		t.dim("bytes: on the design's connections; server time: of its processor, for all it did, ? where nobody knows;"),
		t.dim("wake-up: release to the next grant, somebody waiting"))
	return nil
}
