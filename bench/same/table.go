package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// verdictColumns are the verdicts in the order of the table.
var verdictColumns = []string{"broken", "held", "untested", "n/a"}

// coverage counts the histories by verdict: for each guarantee under any conditions, and
// for each condition that touched it, alone or among others. A cell held without any
// exposure does not count, because nothing was tested.
func coverage(js judgements) map[string]map[string]int {
	counts := map[string]map[string]int{}
	for _, j := range js {
		rows := map[string][]finding{}
		for cell, f := range j.findings {
			for _, row := range rowsOf(cell) {
				rows[row] = append(rows[row], f)
			}
		}
		for row, all := range rows {
			if counts[row] == nil {
				counts[row] = map[string]int{}
			}
			if f := fold(all); f.verdict != "held" || f.exposure > 0 {
				counts[row][f.verdict]++
			}
		}
	}
	return counts
}

// rowsOf are the rows of the table for a cell.
func rowsOf(cell string) []string {
	guarantee, under, touched := strings.Cut(cell, "@")
	rows := []string{guarantee}
	if touched {
		for one := range strings.SplitSeq(under, "+") {
			rows = append(rows, guarantee+"@"+one)
		}
	}
	return rows
}

// showCoverage prints the number of histories with each verdict, and returns the
// guarantees that lack broken or held.
func showCoverage(w io.Writer, js judgements) (lacking []string) {
	counts := coverage(js)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "histories and replays: %d\t%s\t\n", len(js), strings.Join(verdictColumns, "\t"))
	for _, row := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(t, "%s\t", row)
		for _, v := range verdictColumns {
			fmt.Fprintf(t, "%d\t", counts[row][v])
		}
		fmt.Fprintln(t)
		for _, v := range []string{"broken", "held"} {
			if counts[row][v] == 0 && !strings.Contains(row, "@") {
				lacking = append(lacking, row+" is never "+v)
			}
		}
	}
	t.Flush()
	return lacking
}
