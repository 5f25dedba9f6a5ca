package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// report prints a line for each row.
func report(w io.Writer, opt options, results []result) error {
	rows := 0
	for _, m := range opt.Measurements {
		rows += len(m.rows)
	}
	missing := level / float64(rows)
	heading(w, opt, rows, missing)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	var blunt []string
	fmt.Fprintln(table, "row\tunit\tOLD\tNEW\tNEW/OLD\tinterval\tNEW is\t")
	for i, m := range opt.Measurements {
		for _, r := range m.rows {
			e := compared(r, results[i], missing)
			line(table, r, e, results[i])
			if e.blunt() {
				blunt = append(blunt, r.name)
			}
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(blunt) > 0 {
		fmt.Fprintf(w, "%.0f %% more or less can go unseen in %s; hint: take a quieter machine, or more rounds.\n", 100*fine, strings.Join(blunt, ", "))
	}
	return notes(w, opt.Measurements, results)
}

// heading explains the table.
func heading(w io.Writer, opt options, rows int, missing float64) {
	fmt.Fprintf(w, "OLD %s\nNEW %s\n", opt.Old.path, opt.New.path)
	fmt.Fprintln(w, "All figures are work per second: higher is better, and a ratio NEW/OLD above 1 means that NEW is better.")
	in := medianInterval(opt.Rounds, missing)
	if in.rank == 0 {
		fmt.Fprintf(w, "Too few rounds for an interval: %d for %d rows; hint: take %d or more, or fewer rows.\n\n", opt.Rounds, rows, fewest(missing))
		return
	}
	fmt.Fprintf(w, "%d rounds; medians; each interval goes from ratio %d to ratio %d by size, %.2f %% of confidence.\n",
		opt.Rounds, in.rank, opt.Rounds+1-in.rank, 100*in.confidence)
	fmt.Fprintf(w, "In at least 95 %% of runs all of them are right (%d by Bonferroni); \"same\" is where 1 is in the interval.\n\n", rows)
}

func line(w io.Writer, r row, e estimate, res result) {
	bounds := "-"
	if e.finding != tooFew {
		bounds = fmt.Sprintf("%.3f to %.3f", e.low, e.high)
	}
	fmt.Fprintf(w, "%s\t%s\t%.0f\t%.0f\t%.3f\t%s\t%s\t\n",
		r.name, r.unit, median(rates(res.old, r)), median(rates(res.new, r)), e.median, bounds, e.finding)
}

// compared returns the estimate of a row.
func compared(r row, res result, missing float64) estimate {
	ratios := make([]float64, len(res.old))
	for i := range ratios {
		ratios[i] = r.rate(res.new[i]) / r.rate(res.old[i])
	}
	return estimated(ratios, missing)
}

func rates(turns []turn, r row) []float64 {
	values := make([]float64, len(turns))
	for i, t := range turns {
		values[i] = r.rate(t)
	}
	return values
}

// notes reports binaries that did not do the same work: then the ratio compares rates of
// work that may be easier or harder.
func notes(w io.Writer, ms []measurement, results []result) error {
	for i, m := range ms {
		old, changed := results[i].old[0].work, results[i].new[0].work
		if m.fixed && old != changed {
			if _, err := fmt.Fprintf(w, "%s: OLD did %.0f and NEW %.0f, so the work may differ\n", m.rows[0].name, old, changed); err != nil {
				return err
			}
		}
	}
	return nil
}
