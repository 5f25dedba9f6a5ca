package matrix

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/inject"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// The drivers of a matrix. Explore is also the name of its one part; the names of live parts
// begin with Live.
const (
	Live    = "live"
	Explore = "explore"
)

// A livePart is a run on a real server that a matrix makes of every design.
type livePart struct {
	name   string
	faults []string
	// guarded: the store has a guard, by fences if the lock hands them out, and clients go
	// from key to key, so that each writes after others.
	guarded bool
	// mustBreak is the cell that the lock that is broken on purpose breaks in this part.
	mustBreak lockbench.Cell
}

// stale is the cell that the lock that is broken on purpose breaks whenever owners work past
// their leases.
var stale = lockbench.OwnerRelease.At(lockbench.Outlived)

// liveParts returns the live runs of a matrix in the order in which they are made; the last
// ones are left out first if the budget is short. Faults that hide each other's effects are
// in runs of their own.
func liveParts() []livePart {
	return []livePart{
		{name: Live, mustBreak: stale},
		{name: Live + " faults", faults: []string{string(fault.Crash), string(fault.LostReply), string(fault.Cancel)}, mustBreak: stale},
		{name: Live + " failover", faults: []string{string(fault.Failover) + ",at=400ms,every=700ms"}, mustBreak: lockbench.Exclusion.At(lockbench.Failover)},
		{name: Live + " skew", faults: []string{string(fault.Skew)}, mustBreak: stale},
		{name: Live + " guard", guarded: true, mustBreak: stale},
	}
}

// of returns the part for a design, with the faults that are possible on its backend, and
// false if none is. Processes stand still, too, if the design cannot be explored, since
// nothing else then shows the effect.
func (p livePart) of(d design.Design) (livePart, bool) {
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

// guard returns the guard of the store in the part, for a design.
func (p livePart) guard(d *design.Design) lockbench.Guard {
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
	return runner.Subject{Design: d, Guard: p.guard(&d), Optional: true, Change: func(o *workloads.Options) {
		if p.guarded {
			o.KeyChoice, o.Keys = workloads.Uniform, guardedKeys
		}
		o.Duration *= times(&d)
	}}
}

// unexploredTimes is the factor by which a live run is longer for a design that cannot be
// explored.
const unexploredTimes = 4

// times returns the length of a design's live run, in runs of the usual length.
func times(d *design.Design) time.Duration {
	if d.Explorable() == nil {
		return 1
	}
	return unexploredTimes
}

// command returns the command that makes the live run of a design again.
func (p livePart) command(of *runner.Subject, o workloads.Options) string {
	guard := of.Guard
	parts := []string{"lockbench run --design " + of.Design.Name + fmt.Sprintf(" --seed %d", o.Seed)}
	if n := times(&of.Design); n > 1 {
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
	// liveShare bounds the share of live runs.
	liveShare = 3. / 4
	// liveOverhead is the time that a live run takes beside its clients' time: it waits for
	// keys that were left held, and is judged.
	liveOverhead = 600 * time.Millisecond
)

// fitting returns the number of live parts that there is time for, with so many designs.
func (s *Settings) fitting(designs int) int {
	n := int(liveShare * float64(s.Budget) / float64(s.Length+liveOverhead) / float64(designs))
	return min(n, len(liveParts()))
}
