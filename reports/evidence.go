package reports

import (
	"bufio"
	"io"

	"github.com/lockbench/lockbench/checker"
)

// Timeline draws a counterexample by itself, as under the table of a run, without colour. It
// returns the first error of w.
func Timeline(w io.Writer, counterexample *checker.Counterexample) error {
	buffered := bufio.NewWriter(w)
	newTimeline(newCounterexample(counterexample)).write(buffered, false)
	return buffered.Flush()
}
