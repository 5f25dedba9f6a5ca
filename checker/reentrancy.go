package checker

import "github.com/lockbench/lockbench/checker/internal/interval"

// The monitor of reentrancy judges that nested acquires are counted and that only the last release
// frees the key: an inner release must not let other clients in, which attribution.go finds, and
// the owner must not be refused its own key.
var _ = monitorOf(reentrancy, monitor{
	needs: nests, lacks: "the design does not count nested acquires",
	untested: "no acquire met a lock after an inner release",
	on: [factKinds]func(*Checker, fact){
		factRefused: nestedRefused,
	},
})

// Kinds of violation.
var (
	innerFreed = kindOf(reentrancy, TooShort, "an inner release by %s freed the key: %s was granted it")
	innerLost  = kindOf(reentrancy, TooShort, "an inner release by %s freed the key: it was told that it had lost it")
	ownRefused = kindAndOccasion(reentrancy, Stuck, "%s was refused the key that it held")
)

// nestedRefused judges a refusal of a key that the client held all the time.
func nestedRefused(c *Checker, f fact) {
	if !c.rules.Nested || c.partial || f.key.affected.Has(f.op) || c.faults.standstills.Met(interval.LastTry(f.op).T, f.op.Return) {
		return
	}
	for _, h := range f.key.holds {
		if h.client == f.op.Client && h.ValidAt(f.at) && h.supersededBy == nil && h.staleOp == nil && !h.staleConcurrent && !h.forgotten {
			h.note(f.op)
			c.violate(candidate{kind: ownRefused, key: f.key, holds: []*hold{h}, under: c.touching(h) | c.answering(f.op)})
		}
	}
}
