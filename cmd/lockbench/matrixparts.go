package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/faults"
	"github.com/lockbench/lockbench/workloads"
)

// partExplore is the part of a matrix that explores; live parts are named after
// driverLive.
const partExplore = driverExplore

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
		{driverLive, nil, stale},
		{driverLive + " faults", []string{string(faults.Crash), string(faults.LostReply), string(faults.Cancel)}, stale},
		{driverLive + " failover", []string{string(faults.Failover) + ",at=400ms,every=700ms"}, lockbench.Exclusion.At(lockbench.Failover)},
		{driverLive + " skew", []string{string(faults.Skew)}, stale},
	}
}

// liveOptions are those of a live part: the tour's, by the matrix' seed.
func liveOptions(seed uint64) workloads.Options {
	o := tour()
	o.Seed = seed
	return o
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

// liveFitting are the live parts of so many designs for which there is time.
func liveFitting(budget time.Duration, designs int) []livePart {
	each := tour().Duration + liveOverhead
	parts := liveParts()
	n := int(liveShare * float64(budget) / float64(each) / float64(designs))
	return parts[:min(n, len(parts))]
}
