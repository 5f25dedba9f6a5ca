package explore

import (
	"slices"

	"github.com/lockbench/lockbench"
)

// What scenarios put to the test by themselves, where there are two clients or more.
var (
	// contended: clients try a key that another holds.
	contended = []lockbench.Guarantee{lockbench.Exclusion, lockbench.NoEarlyExpiry}
	// outlived: clients work past their leases, while others get in.
	outlived = []lockbench.Guarantee{lockbench.Overrun, lockbench.OwnerRelease, lockbench.LossReported}
)

// with returns the guarantees of all lists.
func with(lists ...[]lockbench.Guarantee) []lockbench.Guarantee { return slices.Concat(lists...) }

// exercises lists what s can put to the test within the scope of c: a claim to one of
// these that stays untested is an open question, any other was not asked. skews tells
// that the design reads the clock.
func (c *Config) exercises(s Scenario, skews bool) []lockbench.Guarantee {
	found := []lockbench.Guarantee{lockbench.NoSpuriousRefusal, lockbench.Fencing}
	contend := slices.Contains(s.Exercises, lockbench.Exclusion)
	for _, kind := range c.Kinds {
		if g, decides := c.decides(kind, skews && contend); decides && c.Faults > 0 {
			found = append(found, g)
		}
	}
	if c.Clients < 2 {
		return found
	}
	found = append(found, s.Exercises...)
	switch {
	case c.Design.Renews || c.Design.RenewsUnseen: // who is slow does not lose the lock
		if slices.Contains(found, lockbench.Overrun) {
			found = append(found, lockbench.Extend)
		}
		found = slices.DeleteFunc(found, func(g lockbench.Guarantee) bool {
			return g == lockbench.OwnerRelease || g == lockbench.LossReported
		})
	case c.hastens() && contend && !s.Waits:
		found = append(found, outlived...)
	}
	return found
}

// decides returns the guarantee that is about faults of a kind, skews telling that
// clocks could matter.
func (c *Config) decides(kind FaultKind, skews bool) (g lockbench.Guarantee, decides bool) {
	switch kind {
	case DieBefore, DieAfter:
		return lockbench.Recovery, true
	case LostReply, Cut:
		return lockbench.LostReply, true
	case Cancel:
		return lockbench.Cancel, true
	case ScriptFlush:
		return lockbench.ScriptFlush, true
	case Restart:
		return lockbench.Restart, c.Clients > 1
	case Skew:
		return lockbench.Skew, skews && c.Clients > c.Threads
	}
	return "", false
}

// hastens tells whether leases may end before their owners are done.
func (c *Config) hastens() bool {
	return c.Moves > 0 || c.Faults > 0 && slices.Contains(c.Kinds, Pause)
}
