package design

import (
	"slices"

	"github.com/lockbench/lockbench"
)

// LeaseClaims is what a lease lock on one server can keep, together with what its
// abilities promise: what a lock of other people's is held to, which says no more of
// itself. The order is that of [lockbench.Guarantees].
func LeaseClaims(abilities ...lockbench.Guarantee) []lockbench.Guarantee {
	claims := slices.Concat(abilities, []lockbench.Guarantee{
		lockbench.Exclusion, lockbench.OwnerRelease, lockbench.NoEarlyExpiry, lockbench.Recovery,
		lockbench.LossReported, lockbench.Effects, lockbench.NoSpuriousRefusal, lockbench.Cancel,
		lockbench.LostReply, lockbench.Skew, lockbench.ScriptFlush,
	})
	var ordered []lockbench.Guarantee
	for _, g := range lockbench.Guarantees() {
		if slices.Contains(claims, g.Name) {
			ordered = append(ordered, g.Name)
		}
	}
	return ordered
}
