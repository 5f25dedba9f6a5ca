package ui

import (
	"time"

	"github.com/lockbench/lockbench/internal/measure/series"
)

// A Session is all that a view shows. It is a value: nothing in it changes once it was
// handed out.
type Session struct {
	// Title says what is run, in a line.
	Title string
	// Designs is how many are to be run, zero where nobody knows.
	Designs int
	// Done are the designs that have their verdict, in the order in which they ran.
	Done []Outcome
	// Current is the run under way. Its Design is empty between two of them.
	Current Run
	// Notes are what was said meanwhile, the latest last.
	Notes []string
}

// A Run is what is known of a run before it is over.
type Run struct {
	Design string
	// Elapsed is how long the clients have been running, zero before they do; Length how
	// long they are to run, zero where something else than time ends the run.
	Elapsed, Length time.Duration
	// Grants, Refused and Failed count acquires that were granted, those that were
	// refused, and operations of any kind that failed or got no answer.
	Grants, Refused, Failed int64
	// Rate is when the grants were.
	Rate series.Counts
	// Acquire is how long acquires took that were granted and are judged already.
	Acquire Latency
	// Breaches has an entry for each guarantee that was broken, in the order in which
	// that came out.
	Breaches []Breach
	// Faults has an entry for each kind of fault that occurred.
	Faults []Occurrences
}

// A Latency is a distribution in brief, in ns. Count is of how many durations.
type Latency struct {
	Count                    int64
	P50, P90, P99, P999, Max int64
}

// A Breach is a guarantee that was broken.
type Breach struct {
	Guarantee string
	// Claimed: the design promised to keep it.
	Claimed bool
	// Count is how often it was broken so far; First how far into the run, and Key where,
	// it was for the first time.
	Count int64
	First time.Duration
	Key   string
}

// Occurrences is how often faults of one kind occurred.
type Occurrences struct {
	Fault string
	Count int64
}

// An Outcome is what came of a run.
type Outcome struct {
	Design string
	// GrantsPerSecond and P99, in ns, are of the measured part of the run.
	GrantsPerSecond float64
	P99             int64
	Mark            Mark
	// Words say what the mark stands for.
	Words string
}

// A Mark is the gist of an outcome.
type Mark uint8

// The marks. The zero value promises nothing.
const (
	Undecided Mark = iota // too little was seen to say
	Kept                  // every claim that could be exercised held
	Broken                // a claim was broken
)
