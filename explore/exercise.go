package explore

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/workloads"
)

// A kindInfo is what a kind of fault brings about.
type kindInfo struct {
	conditions lockbench.Conditions // see [FaultKind.Conditions]
	// tests is the cell that it puts to the test, zero for none beside those of late
	// owners. It is under one of the conditions.
	tests lockbench.Cell
}

// kindInfos describe every kind of fault.
var kindInfos = map[FaultKind]kindInfo{
	DieBefore:   {lockbench.Crash, lockbench.Recovery.At(lockbench.Crash)},
	DieAfter:    {lockbench.Crash, lockbench.Recovery.At(lockbench.Crash)},
	Pause:       {lockbench.Pause, lockbench.Cell{}},
	LostReply:   {lockbench.LostReply, lockbench.Recovery.At(lockbench.LostReply)},
	SlowReply:   {lockbench.Cancel, lockbench.Cell{}}, // it is late, and not lost: the client may give it up
	Cut:         {lockbench.LostReply, lockbench.Recovery.At(lockbench.LostReply)},
	Cancel:      {lockbench.Cancel, lockbench.Recovery.At(lockbench.Cancel)},
	Skew:        {lockbench.Skew, lockbench.Exclusion.At(lockbench.Skew)},
	ScriptFlush: {lockbench.ScriptFlush, lockbench.Answers.At(lockbench.ScriptFlush)},
	Restart:     {lockbench.StateLoss | lockbench.ScriptFlush | lockbench.LostReply, lockbench.Exclusion.At(lockbench.StateLoss)},
}

// Conditions returns what a fault of the kind may bring about. For those who die it is the
// crash of a process of one client: where others live on in it, it is the death of a thread.
func (k FaultKind) Conditions() lockbench.Conditions { return kindInfos[k].conditions }

// exercises lists what p can put to the test within the scope of c: a claim to one of
// these that stays untested is an open question, any other was not asked. skews reports
// that the design reads the clock.
func (c *Config) exercises(p workloads.Program, skews bool) []lockbench.Cell {
	contend := slices.Contains(p.Exercises, lockbench.Exclusion.At(0))
	renews := c.Design.Renews || c.Design.RenewsUnseen // then a slow owner does not lose the lock
	o := c.options(p)
	if c.hastens() && !p.Exploration.Waits && !renews {
		o.Slow = 1
	}
	found := p.Cells(o)
	for _, kind := range c.Kinds {
		if cell, tests := c.tests(kind, skews && contend); tests && c.Faults > 0 {
			found = append(found, cell)
		}
	}
	if renews {
		found = slices.DeleteFunc(found, func(cell lockbench.Cell) bool {
			return cell.Guarantee == lockbench.OwnerRelease || cell.Guarantee == lockbench.LossReported
		})
	}
	return found
}

// tests returns the cell that faults of a kind put to the test, skews telling that
// clocks could matter.
func (c *Config) tests(kind FaultKind, skews bool) (cell lockbench.Cell, tests bool) {
	cell = kindInfos[kind].tests
	tests = cell != lockbench.Cell{}
	switch {
	case kind == Restart:
		tests = c.Clients > 1
	case kind == Skew:
		tests = skews && c.Clients > c.Threads
	case cell.Under == lockbench.Crash && c.Threads > 1: // others of its process live on
		cell.Under = lockbench.ThreadDeath
	}
	return cell, tests
}

// hastens reports whether leases may end before their owners are done.
func (c *Config) hastens() bool {
	return c.Moves > 0 || c.Faults > 0 && slices.Contains(c.Kinds, Pause)
}
