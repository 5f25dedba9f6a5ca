package explore

import (
	"slices"

	"github.com/lockbench/lockbench"
)

// What scenarios put to the test by themselves, where there are two clients or more.
var (
	// contended: clients try a key that another holds.
	contended = []lockbench.Cell{lockbench.Exclusion.At(0), lockbench.LeaseKept.At(0)}
	// outlived: clients work past their leases, while others get in.
	outlived = []lockbench.Cell{
		lockbench.Exclusion.At(lockbench.Outlived), lockbench.OwnerRelease.At(lockbench.Outlived), lockbench.LossReported.At(lockbench.Outlived),
	}
)

// with returns the cells of a list, and these guarantees where nothing goes wrong.
func with(cells []lockbench.Cell, more ...lockbench.Guarantee) []lockbench.Cell {
	cells = slices.Clone(cells)
	for _, g := range more {
		cells = append(cells, g.At(0))
	}
	return cells
}

// A kindInfo is what a kind of fault brings about.
type kindInfo struct {
	// conditions touch what the fault strikes, when it strikes a process of one client.
	conditions lockbench.Conditions
	// tests is the guarantee that it puts to the test, empty for none beside those of late
	// owners; under is the one of the conditions that it does so under.
	tests lockbench.Guarantee
	under lockbench.Conditions
}

// kindInfos describe every kind of fault.
var kindInfos = map[FaultKind]kindInfo{
	DieBefore:   {lockbench.Crash, lockbench.Recovery, lockbench.Crash},
	DieAfter:    {lockbench.Crash, lockbench.Recovery, lockbench.Crash},
	Pause:       {lockbench.Pause, "", 0},
	LostReply:   {lockbench.LostReply, lockbench.Recovery, lockbench.LostReply},
	SlowReply:   {0, "", 0}, // late, and not lost
	Cut:         {lockbench.LostReply, lockbench.Recovery, lockbench.LostReply},
	Cancel:      {lockbench.Cancel, lockbench.Recovery, lockbench.Cancel},
	Skew:        {lockbench.Skew, lockbench.Exclusion, lockbench.Skew},
	ScriptFlush: {lockbench.ScriptFlush, lockbench.Answers, lockbench.ScriptFlush},
	Restart:     {lockbench.StateLoss | lockbench.ScriptFlush | lockbench.LostReply, lockbench.Exclusion, lockbench.StateLoss},
}

// exercises lists what s can put to the test within the scope of c: a claim to one of
// these that stays untested is an open question, any other was not asked. skews tells
// that the design reads the clock.
func (c *Config) exercises(s Scenario, skews bool) []lockbench.Cell {
	found := with(nil, lockbench.NoSpuriousRefusal, lockbench.Fencing)
	contend := slices.Contains(s.Exercises, lockbench.Exclusion.At(0))
	for _, kind := range c.Kinds {
		if cell, tests := c.tests(kind, skews && contend); tests && c.Faults > 0 {
			found = append(found, cell)
		}
	}
	if c.Clients < 2 {
		return found
	}
	found = append(found, s.Exercises...)
	switch {
	case c.Design.Renews || c.Design.RenewsUnseen: // a slow owner does not lose the lock
		found = slices.DeleteFunc(found, func(cell lockbench.Cell) bool {
			return cell.Guarantee == lockbench.OwnerRelease || cell.Guarantee == lockbench.LossReported
		})
	case c.hastens() && contend && !s.Waits:
		found = append(found, outlived...)
	}
	return found
}

// tests returns the cell that faults of a kind put to the test, skews telling that
// clocks could matter.
func (c *Config) tests(kind FaultKind, skews bool) (cell lockbench.Cell, tests bool) {
	info := kindInfos[kind]
	cell, tests = info.tests.At(info.under), info.tests != ""
	switch {
	case kind == Restart:
		tests = c.Clients > 1
	case kind == Skew:
		tests = skews && c.Clients > c.Threads
	case info.under == lockbench.Crash && c.Threads > 1: // others of its process live on
		cell.Under = lockbench.ThreadDeath
	}
	return cell, tests
}

// hastens tells whether leases may end before their owners are done.
func (c *Config) hastens() bool {
	return c.Moves > 0 || c.Faults > 0 && slices.Contains(c.Kinds, Pause)
}
