package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// verdictColumns are the verdicts in the order of the table.
var verdictColumns = []string{"broken", "held", "hazard", "untested", "n/a"}

// coverage counts, for each guarantee, the histories by verdict. One that is held
// without any exposure does not count: nothing held there.
func coverage(js judgements) map[string]map[string]int {
	counts := map[string]map[string]int{}
	for _, j := range js {
		for g, f := range j.findings {
			if counts[g] == nil {
				counts[g] = map[string]int{}
			}
			if f.verdict != "held" || f.exposure > 0 {
				counts[g][f.verdict]++
			}
		}
	}
	return counts
}

// showCoverage prints how many histories have which verdict, and returns the guarantees
// that lack broken or held, but for those excused.
func showCoverage(w io.Writer, js judgements, excused []string) (lacking []string) {
	counts := coverage(js)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "histories and replays: %d\t%s\t\n", len(js), strings.Join(verdictColumns, "\t"))
	for _, g := range js.guarantees() {
		fmt.Fprintf(t, "%s\t", g)
		for _, v := range verdictColumns {
			fmt.Fprintf(t, "%d\t", counts[g][v])
		}
		fmt.Fprintln(t)
		for _, v := range []string{"broken", "held"} {
			if counts[g][v] == 0 && !slices.Contains(excused, g) {
				lacking = append(lacking, g+" is never "+v)
			}
		}
	}
	t.Flush()
	return lacking
}
