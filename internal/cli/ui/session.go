package ui

import (
	"time"

	"github.com/lockbench/lockbench/internal/measure/series"
)

// A Session is the content of a view. It is a value: it does not change after it was
// handed out.
type Session struct {
	// Title describes the plan in a line.
	Title string
	// Designs is the number of designs to run, zero if it is unknown.
	Designs int
	// Done are the designs with a verdict, in the order of their runs.
	Done []Outcome
	// Current is the run under way. Its Design is empty between two runs.
	Current Run
	// Notes are the notes so far, the latest last.
	Notes []string
}

// A Run is the state of a run before its end.
type Run struct {
	Design string
	// Elapsed is how long the clients have been running, zero before they start; Length
	// is how long they will run, zero if something other than time ends the run.
	Elapsed, Length time.Duration
	// Grants and Refused count granted and refused acquires, Failed operations of any
	// kind that failed or got no answer.
	Grants, Refused, Failed int64
	// Rate has the grants by time.
	Rate series.Counts
	// Acquire has the durations of granted acquires that are already judged.
	Acquire Latency
	// Breaches has an entry for each broken guarantee, in the order of discovery.
	Breaches []Breach
	// Faults has an entry for each kind of fault that occurred.
	Faults []Occurrences
}

// A Latency summarizes a distribution, in ns. Count is the number of durations.
type Latency struct {
	Count                    int64
	P50, P90, P99, P999, Max int64
}

// A Breach is a broken guarantee.
type Breach struct {
	Guarantee string
	// Claimed means that the design promised to keep it.
	Claimed bool
	// Count is the number of violations so far; First is the time of the first in the
	// run, and Key its key.
	Count int64
	First time.Duration
	Key   string
}

// Occurrences counts the faults of one kind.
type Occurrences struct {
	Fault string
	Count int64
}

// An Outcome is the result of a run.
type Outcome struct {
	Design string
	// GrantsPerSecond and P99, in ns, are of the measured part of the run.
	GrantsPerSecond float64
	P99             int64
	Mark            Mark
	// Words explain the mark.
	Words string
}

// A Mark is the gist of an outcome.
type Mark uint8

// The marks. The zero value promises nothing.
const (
	Undecided Mark = iota // too little was tested to decide
	Kept                  // every tested claim held
	Broken                // a claim was broken
)
