package design

import (
	"slices"

	"github.com/lockbench/lockbench"
)

// A Limit is a fault under which a design keeps less than it otherwise claims, as
// its document or the nature of what it does says.
type Limit struct {
	// Fault is the kind of fault, as package explore names it, or ThreadDeath.
	Fault string
	// Gives are the claims given up while that fault is about.
	Gives []lockbench.Guarantee
	// Why says what happens, in one sentence.
	Why string
}

// ThreadDeath is the death of one owner in a process that lives on.
const ThreadDeath = "thread-death"

// ClaimsUnder returns what the design claims in a run with these faults, in the
// order of Claims.
func (d Design) ClaimsUnder(faults []string) []lockbench.Guarantee {
	return slices.DeleteFunc(slices.Clone(d.Claims), func(g lockbench.Guarantee) bool {
		_, given := d.LimitOn(g, faults)
		return given
	})
}

// LimitOn returns the limit by which the design gives up g under these faults.
func (d Design) LimitOn(g lockbench.Guarantee, faults []string) (Limit, bool) {
	i := slices.IndexFunc(d.Limits, func(l Limit) bool {
		return slices.Contains(faults, l.Fault) && slices.Contains(l.Gives, g)
	})
	if i < 0 {
		return Limit{}, false
	}
	return d.Limits[i], true
}
