package reports

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// lockName returns the name of a run without its point, for a conclusion or a row on all points of
// the lock.
func (s *summary) lockName(run *results.Run) string {
	return results.Label{Workloads: s.label.Workloads}.Of(run)
}

// fewestInChart is the smallest number of client counts that makes a chart of a lock.
const fewestInChart = 3

// rates draws, for each lock, the rate of grants over the number of clients.
func (s *summary) rates() *document.Section {
	all := document.Only(document.Terminal)
	if !s.label.Clients {
		return all
	}
	for _, points := range s.result.Locks() {
		clients, lines := s.rateLines(points)
		if len(clients) >= fewestInChart && len(lines) > 0 {
			all.Blocks = append(all.Blocks, &document.Chart{Kind: "rates", Title: s.lockName(&s.result.Runs[points[0]]), Caption: "grants/s by clients", X: clients, Lines: lines})
		}
	}
	return all
}

// rateLines returns the numbers of clients of the runs, rising, and the rates of grants at each.
// There is a line for each number of keys that ran with all numbers of clients, or one line if each
// number of clients ran once.
func (s *summary) rateLines(points []int) (clients []string, lines []document.Line) {
	type point struct{ clients, keys int }
	rates := make(map[point]float64)
	var counts, keys []int
	for _, i := range points {
		run := &s.result.Runs[i]
		at := point{numberOf(run, "clients"), numberOf(run, "keys")}
		rates[at] = run.GrantsPerS
		counts, keys = append(counts, at.clients), append(keys, at.keys)
	}
	slices.Sort(counts)
	slices.Sort(keys)
	counts, keys = slices.Compact(counts), slices.Compact(keys)
	for _, n := range counts {
		clients = append(clients, strconv.Itoa(n))
	}
	if len(rates) == len(counts) {
		one := document.Line{Label: keysLabel(keys...), Values: make([]float64, len(counts))}
		for at, rate := range rates {
			one.Values[slices.Index(counts, at.clients)] = rate
		}
		return clients, []document.Line{one}
	}
	for _, k := range keys {
		line := document.Line{Label: keysLabel(k)}
		for _, n := range counts {
			if rate, ran := rates[point{n, k}]; ran {
				line.Values = append(line.Values, rate)
			}
		}
		if len(line.Values) == len(counts) {
			lines = append(lines, line)
		}
	}
	return clients, lines
}

// numberOf returns a parameter that is a whole number, zero if the run does not have it.
func numberOf(run *results.Run, name string) int {
	n, _ := strconv.Atoi(results.Setting(run.Params, name))
	return n
}

func keysLabel(keys ...int) string {
	if len(keys) == 1 && keys[0] == 1 {
		return "1 key"
	}
	words := make([]string, len(keys))
	for i, n := range keys {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ") + " keys"
}

// lockGuarantees returns the table of the findings on each lock at all its points.
func (s *summary) lockGuarantees() document.Table {
	var all []designCells
	for _, points := range s.result.Locks() {
		first := &s.result.Runs[points[0]]
		d := resultCells(s.result, points[0], s.lockName(first))
		d.Cells = results.Cells{}
		for _, i := range points {
			d.Cells.Add(s.result.Runs[i].Cells)
		}
		d.link = func(cell lockbench.Cell) string { return s.shownAt(points, cell) }
		all = append(all, d)
	}
	if len(all) == 1 {
		return all[0].table()
	}
	return designTable(all)
}

// shownAt returns the ID of the evidence for a broken cell, in the first of the points at which it
// broke.
func (s *summary) shownAt(points []int, cell lockbench.Cell) string {
	at := points[0]
	if i := slices.IndexFunc(points, func(i int) bool { return slices.Contains(s.result.Runs[i].Cells.Broken(), cell) }); i >= 0 {
		at = points[i]
	}
	return (&gallery{id: runID(at)}).idOf(cell)
}
