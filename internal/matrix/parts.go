package matrix

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/fault"
)

// The drivers of a matrix. Explore names its one part too; live parts are named after Live.
const (
	Live    = "live"
	Explore = "explore"
)

// A livePart is a run on a real server that a matrix makes of every design.
type livePart struct {
	name   string
	faults []string
	// mustBreak is what the lock that is broken on purpose breaks in it.
	mustBreak lockbench.Cell
}

// stale is what the lock that is broken on purpose breaks wherever owners work past their
// leases.
var stale = lockbench.OwnerRelease.At(lockbench.Outlived)

// liveParts are the live runs of a matrix: those that come first are made first, and
// are left out last where the budget is short. Faults that hide each other's work are
// in runs of their own.
func liveParts() []livePart {
	return []livePart{
		{Live, nil, stale},
		{Live + " faults", []string{string(fault.Crash), string(fault.LostReply), string(fault.Cancel)}, stale},
		{Live + " failover", []string{string(fault.Failover) + ",at=400ms,every=700ms"}, lockbench.Exclusion.At(lockbench.Failover)},
		{Live + " skew", []string{string(fault.Skew)}, stale},
	}
}

// command makes the live run of a design again.
func (p livePart) command(designName string, seed uint64) string {
	parts := []string{"lockbench run --design " + designName + fmt.Sprintf(" --seed %d", seed)}
	for _, f := range p.faults {
		parts = append(parts, "--fault "+f)
	}
	return strings.Join(parts, " ")
}

// Shares of the budget.
const (
	// liveShare of it is for live runs at most.
	liveShare = 3. / 4
	// liveOverhead is what a live run takes beside the time of its clients: it waits
	// for what was left held, and is judged.
	liveOverhead = 600 * time.Millisecond
)

// fitting is for how many of the live parts of so many designs there is time.
func (s *Settings) fitting(designs int) int {
	n := int(liveShare * float64(s.Budget) / float64(s.Length+liveOverhead) / float64(designs))
	return min(n, len(liveParts()))
}
