package checker

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// Standstills are times in which nobody could do anything: the process that drives the clients, or a
// server, stood still. Those that overlap count once. What they kept back breaks nothing.
type Standstills struct {
	Times        int64
	For, Longest time.Duration
}

// A Result is the judgement of one history. It is flat plain data, to be read field by field.
type Result struct {
	// Findings has an entry for each guarantee where nothing goes wrong, one for each exact
	// set of conditions under which there was an occasion to break it, and one for each cell
	// that was to be put to the test; in the order of [lockbench.Cell.Compare].
	Findings []CellFinding
	// Breaches counts what broke guarantees, each once, however many guarantees it shows on.
	Breaches int64
	// Fairness is how evenly the lock was handed out.
	Fairness Fairness
	// Counts of what the history holds.
	Ops, Grants, Refused, Unknown, Failed, Lost int64
	// Unjudged counts grants of which nothing says when the attempt began that succeeded, and
	// whose lease may have been over by their answer.
	Unjudged int64
	// LeasesNotTold counts grants, extends and renewals answered ok of which the record does not
	// tell the lease. Their owners hold the key at no time for certain.
	LeasesNotTold int64
	// WorstOverlap is the longest time two owners held one key, within validity
	// or past it.
	WorstOverlap time.Duration
	// Standstills are the times in which nobody could do anything.
	Standstills Standstills
	// Partial: the record stops before the run did, and Why.
	Partial bool
	Why     string
	// Defects are contradictions that can only be lockbench's own fault: the
	// occupancy monitor or porcupine saw what the sweep did not.
	Defects []string
	// GrantsByClient are the grants of each client that asked for a lock, rising; of more
	// than 128 clients as many, evenly chosen, the first and the last among them.
	GrantsByClient []int64
	// CrossChecked counts the keys whose history porcupine judged too.
	CrossChecked int64
}

// A Fairness measures how evenly a lock was handed out. It judges nothing.
type Fairness struct {
	// Jain is Jain's index over the clients' grants: 1 when all got as many, 1/n when one
	// of n got all; zero without grants.
	Jain float64
	// Waits counts acquires that waited, MaxWait is the longest.
	Waits   int64
	MaxWait time.Duration
	// MaxBypassed is the most grants to later callers during one wait.
	MaxBypassed int64
}

// A Counterexample shows one violation by the operations that make it.
type Counterexample struct {
	// Breaks are the guarantees of which one at least is broken, the likeliest first, and
	// Under what touched it.
	Breaks []lockbench.Guarantee
	Under  lockbench.Conditions
	Key    string
	// Sentence says what happened, in one line.
	Sentence string
	// Holds are the grants involved, in the order granted.
	Holds []CounterexampleHold
	// Ops are the operations involved, by call: what the server was told and
	// what it answered.
	Ops []history.Op
	// Margin is by how much: the overlap, or the time by which it came early.
	Margin time.Duration
}

// A CounterexampleHold is one grant as the checker sees it. Stamps are ns since the
// start of the run.
type CounterexampleHold struct {
	Hold            int64
	Client, Process int32
	// From is the start of validity, Granted the return of the acquire, Until the
	// end of validity.
	From, Granted, Until int64
	// End is where the must-hold interval ends, and EndedBy what ended it: "release",
	// "validity", "lost", "death", "cut".
	End     int64
	EndedBy string
}

// noteOverlap notes an overlap of d ns.
func (r *Result) noteOverlap(d int64) { r.WorstOverlap = max(r.WorstOverlap, time.Duration(d)) }
