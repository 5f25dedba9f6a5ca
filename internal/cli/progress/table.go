package progress

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/results"
)

// A Table has a row for each completed run: its name, conclusion and speed.
type Table struct {
	// Names are the names of all runs.
	Names []string
	// Conclude returns the conclusion about a run, nil if there is none.
	Conclude func(*results.Judged) *conclusion.Conclusion

	wide int // width of the conclusions; zero before the heading
}

// lines returns the row of a run, below the heading if it is the first one.
func (t *Table) lines(name string, j *results.Judged) (lines []string) {
	widest := len("design")
	for _, other := range t.Names {
		widest = max(widest, len(other))
	}
	row := func(name, concluded, rate, longest string) {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %8s  %7s", widest, name, t.wide, concluded, rate, longest), " "))
	}
	longest := ""
	if p99, ok := j.Latency("acquire", 99); ok {
		longest = figures.Compact(int64(p99))
	}
	says := concluded(t.Conclude(j))
	if j.Header.Control != "" {
		says = "no lock, to compare with"
	}
	if t.wide == 0 {
		t.wide = max(len("safe only with a guard: late-owner"), len(says))
		row("design", "conclusion", "grants/s", "p99")
	}
	row(name, says, results.Speed(j.GrantsPerSecond(), j.Header.Server), longest)
	if j.Err != nil {
		lines = append(lines, "  "+j.Err.Error())
	}
	return lines
}

// concluded returns a conclusion in a few words.
func concluded(c *conclusion.Conclusion) string {
	switch {
	case c == nil:
		return ""
	case c.Breach == "":
		return string(c.Word)
	}
	return string(c.Word) + ": " + string(c.Breach)
}
