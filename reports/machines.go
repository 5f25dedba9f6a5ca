package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// machineColumns are the columns of the table of machines.
var machineColumns = []document.Column{
	{Name: "grants/s", Number: true},
	{Above: "acquire", Name: "p50", Number: true, Apart: true},
	{Name: "p99", Number: true},
	{Name: "max", Number: true, Spare: 1},
	{Name: "breaches", Number: true, Apart: true},
	{Above: "wall", Name: "clock", Number: true, Apart: true},
	{Above: "proces-", Name: "sors", Number: true},
}

// machines returns the table of the machines of runs that several made, empty if there is none.
func (s *summary) machines() *document.Table {
	t := &document.Table{Corner: "on machine", Columns: machineColumns, Notes: []string{
		"wall clock: how much it is ahead of the coordinator's", fmt.Sprintf("processors: the share of their time in use, from %.0f%% on they limit the clients", 100*results.Saturated),
	}}
	for i, label := range labels(s.result) {
		run := &s.result.Runs[i]
		if len(run.Machines) < 2 {
			continue
		}
		for _, m := range run.Machines {
			t.Rows = append(t.Rows, document.Row{Name: strings.TrimSpace(fmt.Sprintf("%s, %d %s", label, m.Number, m.Name)), Link: runID(i), Cells: []document.Value{
				{Text: results.Speed(m.GrantsPerS, s.result.ServerOf(run))},
				{Text: figures.Duration(m.Acquire.Count, m.Acquire.P50)},
				{Text: figures.Duration(m.Acquire.Count, m.Acquire.P99)},
				{Text: figures.Duration(m.Acquire.Count, m.Acquire.Max)},
				{Text: figures.Number(m.Breaches)},
				{Text: ahead(m.AheadNS)},
				busy(m.Busy),
			}})
		}
	}
	if len(t.Rows) == 0 {
		return &document.Table{}
	}
	return t
}

// ahead formats how much a clock is ahead.
func ahead(ns *int64) string {
	if ns == nil {
		return unknownFigure
	}
	d := time.Duration(*ns)
	switch unit := time.Millisecond; {
	case d.Abs() < unit:
		return "0ms"
	case d > 0:
		return "+" + d.Round(unit).String()
	default:
		return d.Round(unit).String()
	}
}

// busy formats the use of processors, which stands out if it limits clients.
func busy(share *float64) document.Value {
	if share == nil {
		return document.Value{Text: unknownFigure}
	}
	v := document.Value{Text: fmt.Sprintf("%.0f%%", 100**share)}
	if *share >= results.Saturated {
		v.Tone = document.Weak
	}
	return v
}
