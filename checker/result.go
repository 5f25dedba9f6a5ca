package checker

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// Standstills are the times in which the process that drives the clients, or a server, stood still,
// so that no client could act. Overlapping standstills count once. A delay that a standstill
// explains breaks no guarantee.
type Standstills struct {
	Times        int64
	For, Longest time.Duration
}

// A Result is the judgement of one history. It is plain data.
type Result struct {
	// Findings has an entry for each guarantee under no condition, one for each exact set of
	// conditions under which a guarantee was exposed, and one for each cell that the run was meant
	// to exercise; in the order of [lockbench.Cell.Compare].
	Findings []CellFinding
	// Breaches counts events that broke guarantees: each once, even if it broke several.
	Breaches int64
	// Fairness is how evenly the lock was granted.
	Fairness Fairness
	// Ops, Grants and so on count the operations of the history, in all and by outcome.
	Ops, Grants, Refused, Unknown, Failed, Lost int64
	// Unjudged counts grants that can have ended before they were answered: the record does not say
	// when the attempt that succeeded began.
	Unjudged int64
	// LeasesNotTold counts grants, extends and renewals that were answered ok and have no lease in
	// the record. Their owners hold the key at no time for certain.
	LeasesNotTold int64
	// WorstOverlap is the longest time that two owners held one key at once, within validity or
	// past it.
	WorstOverlap time.Duration
	// Standstills are the times in which no client could act.
	Standstills Standstills
	// Partial: the record stops before the run did, for the reason Why.
	Partial bool
	Why     string
	// Defects are contradictions that only a defect of lockbench can explain: the occupancy monitor
	// or porcupine disagrees with the checker.
	Defects []string
	// GrantsByClient has the number of grants of each client that called acquire, rising. Of more
	// than 128 clients it has 128, evenly chosen, the first and the last among them.
	GrantsByClient []int64
	// CrossChecked counts the keys that porcupine judged as well.
	CrossChecked int64
}

// A Fairness measures how evenly a lock was granted. It is no verdict.
type Fairness struct {
	// Clients is the number of clients that called acquire, and Grants the number of their grants.
	Clients, Grants int64
	// Jain is Jain's index over the numbers of grants of the clients: 1 if all clients got equally
	// many, 1/n if one of n clients got all; zero without grants.
	Jain float64
	// Waits counts the acquires that waited. MaxWait is the longest wait.
	Waits   int64
	MaxWait time.Duration
	// MaxBypassed is the highest number of grants, during one wait, to clients that had asked
	// later.
	MaxBypassed int64
}

// A Counterexample shows one violation by the operations that it consists of.
type Counterexample struct {
	// Breaks are guarantees, the likeliest first; the violation breaks at least one of them. Under
	// has the conditions that touched the violation.
	Breaks []lockbench.Guarantee
	Under  lockbench.Conditions
	Key    string
	// Sentence says what happened, in one line.
	Sentence string
	// Holds are the grants involved, in the order in which they were granted.
	Holds []CounterexampleHold
	// Ops are the operations involved, in the order of their calls.
	Ops []history.Op
	// Margin is the extent of the violation: how long two owners overlapped, or how early a grant
	// came.
	Margin time.Duration
}

// A CounterexampleHold is one grant as the checker sees it. Stamps are in ns since the start of the
// run.
type CounterexampleHold struct {
	Hold            int64
	Client, Process int32
	// From and Until are the start and the end of validity, Granted is the return of the acquire.
	From, Granted, Until int64
	// End is the end of the must-hold interval, and EndedBy its cause: "release", "validity",
	// "reacquired", "refused", "lost", "death" or "cut".
	End     int64
	EndedBy string
}

// noteOverlap notes an overlap of d ns.
func (r *Result) noteOverlap(d int64) { r.WorstOverlap = max(r.WorstOverlap, time.Duration(d)) }
