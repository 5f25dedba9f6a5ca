package checker

import (
	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// NewBrief starts the judgement of a history for callers that judge many short ones with one
// Checker, see [Checker.Reset]. The verdicts, counts and exposures are the same as with New. Left
// out are counterexamples, measures, the slack in notes, and the cross-check by porcupine: to show
// a history, judge it again with New.
//
// The Checker keeps the history until the next Reset, which also overwrites Result.Findings.
func NewBrief(h history.Header) *Checker {
	c := New(h)
	c.verdictsOnly, c.cache = true, nil
	return c
}

// Reset discards the history judged and starts the judgement of another. A Checker made by NewBrief
// reuses its memory and so allocates next to nothing.
func (c *Checker) Reset(h history.Header) {
	clear(c.keys)
	c.fair.Clear()
	for p := range c.tallies {
		c.tallies[p] = c.tallies[p].Empty()
	}
	c.pools.reclaim()
	for _, r := range c.parts {
		if r != nil {
			*r = part{released: r.released.Empty()}
		}
	}
	fresh := Checker{
		header: h, rules: interval.RulesOf(h), verdictsOnly: c.verdictsOnly, pools: c.pools,
		keyTable: keyTable{keys: c.keys, clientEnds: c.clientEnds[:0], parts: c.parts},
		findingsSoFar: findingsSoFar{
			tallies: c.tallies,
			fair:    c.fair,
		},
		faults: faults{clients: c.faults.clients.Empty(), standstills: interval.NewStandstills(h)},
	}
	if c.verdictsOnly {
		fresh.result.Findings = c.result.Findings[:0]
	}
	*c = fresh
}

// pools are keys and holds to be used again for the next history.
type pools struct {
	keys   count.Pool[key] // in use since the last Reset, or free
	holds  count.Pool[hold]
	sorted []*key
}

// empty resets k but keeps its memory.
func (k *key) empty() {
	*k = key{
		holdings:      holdings{holds: k.holds[:0], released: k.released[:0], deferred: k.deferred[:0], starts: k.starts[:0]},
		pastCallState: pastCallState{stale: k.stale.Empty(), expected: k.expected[:0], sharedReleases: k.sharedReleases.Empty()},
		joinState: joinState{
			early: k.early[:0], caps: k.caps.Empty(), unsureReleases: k.unsureReleases.Empty(),
			unknownAcquires: k.unknownAcquires.Empty(), faultedAcquires: k.faultedAcquires.Empty(),
		},
		faultState: faultState{affected: k.affected[:0], asked: k.asked.Empty(), revived: k.revived.Empty()},
		monitorState: monitorState{
			refusal: refusals{Availability: pending.Availability{LeftLevels: k.refusal.LeftLevels.Empty()}, denials: k.refusal.denials[:0], refusing: k.refusal.refusing[:0]},
			queue:   k.queue.Empty(),
			waits:   k.waits.Empty(),
			fences:  fences{Fences: k.fences.Empty()},
			writes:  k.writes.Empty(),
		},
	}
}

// reclaim frees all keys and holds in use.
func (s *pools) reclaim() {
	s.keys.Reclaim((*key).empty)
	s.holds.Reclaim(func(h *hold) {
		*h = hold{
			ownership: ownership{ops: h.ops[:0]},
			Grant:     h.Empty(),
			loss:      loss{rivals: h.rivals[:0]},
		}
	})
}
