package matrix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/inject"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// The drivers of a matrix. Explore is also the name of its only part; the names of live parts begin
// with Live.
const (
	Live    = "live"
	Explore = "explore"
)

// A livePart is a run on a real server that a matrix makes of every design.
type livePart struct {
	name   string
	faults []string // in the form of lockbench run --fault
	// guarded reports whether the store has a guard, which checks fences if the lock hands them
	// out. In a guarded part clients choose from several keys, so that each writes after others.
	guarded bool
	// mustBreak is the cell that the lock broken on purpose breaks in this part.
	mustBreak lockbench.Cell
}

// lateRelease is the cell that the lock broken on purpose breaks whenever an owner outlives its lease:
// its release frees the next owner's key.
var lateRelease = lockbench.OwnerRelease.At(lockbench.Outlived)

// liveParts returns the live parts in the order in which they run. A short budget leaves out the last
// ones. Faults that hide each other's effects are in parts of their own: a failover loses the keys
// that a crash would leave locked.
func liveParts() []livePart {
	return []livePart{
		{name: Live, mustBreak: lateRelease},
		{name: Live + " faults", faults: []string{string(fault.Crash), string(fault.LostReply), string(fault.Cancel)}, mustBreak: lateRelease},
		{name: Live + " failover", faults: []string{string(fault.Failover) + ",at=400ms,every=700ms"}, mustBreak: lockbench.Exclusion.At(lockbench.Failover)},
		{name: Live + " skew", faults: []string{string(fault.Skew)}, mustBreak: lateRelease},
		{name: Live + " guard", guarded: true, mustBreak: lateRelease},
	}
}

// forDesign returns the part with the faults that are possible on the design's service, and false
// if it has faults and none is possible. Processes pause, too, if the design cannot be explored:
// otherwise exploration shows what a pause does.
func (p livePart) forDesign(d design.Design) (livePart, bool) {
	if p.name == Live+" faults" && d.Explorable() != nil {
		p.faults = append(slices.Clone(p.faults), string(fault.Pause))
	}
	all := p.faults
	p.faults = nil
	for _, f := range all {
		kind, _, _ := strings.Cut(f, ",")
		if inject.Possible(fault.Kind(kind), &d) {
			p.faults = append(p.faults, f)
		}
	}
	return p, len(all) == 0 || len(p.faults) > 0
}

// guardFor returns the guard of the store for a design, empty for none.
func (p livePart) guardFor(d *design.Design) lockbench.Guard {
	switch {
	case !p.guarded:
		return ""
	case d.Fences:
		return lockbench.FenceGuard
	}
	return lockbench.CompareGuard
}

// guardedKeys is the number of keys of a guarded part.
const guardedKeys = 10

// subject returns the design with the settings of the part.
func (p livePart) subject(d design.Design) runner.Subject {
	return runner.Subject{Design: d, Guard: p.guardFor(&d), Optional: true, Change: func(o *workloads.Options) {
		if p.guarded {
			o.KeyChoice, o.Keys = workloads.Uniform, guardedKeys
		}
		o.Duration *= lengthFactor(&d)
	}}
}

// unexploredFactor is the length of a live run, in runs of the usual length, of a design that cannot be
// explored: the run is the only source of findings on it.
const unexploredFactor = 4

// lengthFactor returns the length of a design's live run, in runs of the usual length.
func lengthFactor(d *design.Design) time.Duration {
	if d.Explorable() == nil {
		return 1
	}
	return unexploredFactor
}

// command returns the command that makes the live run of a design again.
func (p livePart) command(of *runner.Subject, o workloads.Options) string {
	guard := of.Guard
	parts := []string{"lockbench run", cmp.Or(of.Design.Arguments, "--design "+of.Design.Name), fmt.Sprintf("--seed %d", o.Seed)}
	if n := lengthFactor(&of.Design); n > 1 {
		parts = append(parts, fmt.Sprintf("--duration %v", n*o.Duration))
	}
	if guard != "" {
		parts = append(parts, "--guard "+string(guard), "--key-choice "+workloads.Uniform, fmt.Sprintf("--keys %d", guardedKeys))
	}
	for _, f := range p.faults {
		parts = append(parts, "--fault "+f)
	}
	return strings.Join(parts, " ")
}

// Shares of the budget.
const (
	// liveShare is the largest share of the budget for live runs; exploration has the rest.
	liveShare = 3. / 4
	// liveOverhead is the time that a live run takes beside the work of its clients: it waits for
	// the leases of dead owners and for its judgement.
	liveOverhead = 600 * time.Millisecond
)

// affordable returns the number of live parts that the budget allows for this number of designs.
func (s *Settings) affordable(designs int) int {
	n := int(liveShare * float64(s.Budget) / float64(s.Length+liveOverhead) / float64(designs))
	return min(n, len(liveParts()))
}
