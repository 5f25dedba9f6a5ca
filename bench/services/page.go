package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/bench/commands"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/lib/wrap"
	"github.com/lockbench/lockbench/results"
)

// section returns the table.
func section(all []*lock, faults time.Duration, beside int) string {
	var b strings.Builder
	b.WriteString("\n| service | lock | grants/s | acquire p99 | hand-off p50 | connections | oversold | occasions | broken under faults |\n|---|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, l := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", l.service, l.name,
			figures.Rate(median(l, func(r *results.Run) float64 { return r.GrantsPerS })),
			l.duration(func(r *results.Run) int64 { return r.Latency["acquire"].P99 }),
			l.duration(func(r *results.Run) int64 { return r.Latency["handoff"].P50 }),
			connections(&l.together), oversold(&l.under), figures.Number(l.occasions()), verdictOf(l))
	}
	note := fmt.Sprintf("Medians of %s of 5 s, in turns, 16 clients on 4 keys, on one machine with the server. Connections: those of 16 owners in one process, each with a lock of its own. Occasions: those for two owners at once. These, oversold and broken: %v of the faults of each sound lock, %v of each broken one.",
		figures.Plural(int64(len(all[0].speed)), "run"), faults, min(brief, faults))
	if beside > 1 {
		note += fmt.Sprintf(" The runs with faults of sound locks were %d at once.", beside)
	}
	return b.String() + "\n" + strings.Join(wrap.Lines(note, 100, 0), "\n") + "\n"
}

// median returns the median of a figure of the runs without faults.
func median(l *lock, of func(*results.Run) float64) float64 {
	var values []float64
	for i := range l.speed {
		values = append(values, of(&l.speed[i]))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (l *lock) duration(of func(*results.Run) int64) string {
	return figures.Compact(int64(median(l, func(r *results.Run) float64 { return float64(of(r)) })))
}

func connections(r *results.Run) string {
	if r.Connections == 0 {
		return "?"
	}
	return figures.Number(r.Connections)
}

func oversold(r *results.Run) string {
	n, known := r.Business.Figure("oversold")
	if !known {
		return "?"
	}
	return figures.Number(n)
}

// broken returns the cells that a run with faults broke, claimed or not, without those whose guarantee
// is broken under fewer of their conditions, too.
func (l *lock) broken() (all []lockbench.Cell) {
	for c, f := range l.under.Cells.Cells {
		if f.Verdict == checker.Broken {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, lockbench.Cell.Compare)
	return commands.Least(all)
}

func verdictOf(l *lock) string {
	var names []string
	for _, c := range l.broken() {
		f := l.under.Cells.Cells[c]
		names = append(names, fmt.Sprintf("`%v` %s of %s", c, figures.Number(f.Violations), figures.Number(f.Exposure)))
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
