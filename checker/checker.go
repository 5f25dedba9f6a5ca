package checker

import (
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/count"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
)

// A Checker judges one history. Feed it the events in order with [Checker.Add], then ask for the
// verdicts with [Checker.Finish]. Its memory grows with the number of locks held at one time, not
// with the length of the history. It is not safe for concurrent use.
type Checker struct {
	header  history.Header
	rules   interval.Rules // of the design
	ability ability
	keyTable
	faults faults
	findingsSoFar
	// last is the stamp of the newest event.
	last interval.Stamp
	// partial is set once the record of one client has ended before the records of the others. From
	// then on operations that are missing in the record may explain recorded ones.
	partial bool
	// materialized is set once no hold may be deferred any more, see deferred.
	materialized bool

	meetings  meetings    // of the acquire that returns
	takeEvent *history.Op // the fault event of factTakenAway, while that is published

	verdictsOnly bool // see NewBrief
	pools        pools
	// What a Machine asks for, else nil: gone receives each hold that no event can change any more, wrote each write
	// of the guarded record that succeeded under a known hold, and affected each operation that a fault affected, at the
	// stamp of the fault, and the cause.
	gone     func(*key, *hold)
	wrote    func(*pending.Write[*hold])
	affected func(k *key, op *history.Op, at int64, cause lockbench.Conditions)
	silent   bool // nothing is judged

	// shard is set if a Parallel uses this Checker for some of the keys, and follows the operations
	// of clients itself. number is the place of the current event among the events of all shards.
	shard  bool
	number int64
}

// keyTable has the keys of a history.
type keyTable struct {
	keys   map[string]*key
	parts  [count.Partitions]*part
	recent *key                  // the result of the last look-up
	cache  *[1 << cacheBits]*key // the keys found last, by the end of their names; nil for short histories
	// clientEnds are deaths and cuts of clients, for the cross-check.
	clientEnds []*history.Op
}

// findingsSoFar has the counts and measurements so far.
type findingsSoFar struct {
	tallies [guaranteeCount]tally
	// violations counts all violations, violationsSeen the violations that News has looked at.
	violations, violationsSeen int64
	fair                       count.Fairness
	result                     Result
}

// cacheBits is the binary logarithm of the number of keys in the cache.
const cacheBits = 10

// An ability is a set of abilities that the history shows the design to have.
type ability uint8

const (
	hasLease ability = 1 << iota
	hasFence
	hasDelay
	hasStore
	prolongs
	nests
	sessions // some grant had, or may have had, no lease
	hasWait
)

// noteAbility adds ability a if the history shows it.
func (c *Checker) noteAbility(a ability, shown bool) {
	if shown {
		c.ability |= a
	}
}

// New starts the judgement of a history with this header.
func New(h history.Header) *Checker {
	c := &Checker{
		header:   h,
		rules:    interval.RulesOf(h),
		keyTable: keyTable{keys: map[string]*key{}, cache: new([1 << cacheBits]*key)},
		faults:   faults{clients: pending.NewClients(), standstills: interval.NewStandstills(h)},
	}
	if h.Stallers > 0 {
		c.fair.Omit = h.Stalls
	}
	return c
}

// Check judges a whole history. If reading fails, Check returns the reader's error, and the result
// covers the events before it.
func Check(src history.Source) (Result, error) {
	c := New(src.Header())
	for ev, err := range src.Events() {
		if err != nil {
			return c.Finish(src.End()), fmt.Errorf("judged up to the damage only: %w", err)
		}
		c.Add(ev)
	}
	return c.Finish(src.End()), nil
}

// Add judges the next event. Events come in the order that history.Source
// promises.
func (c *Checker) Add(ev history.Event) {
	op := ev.Op
	if op.Kind >= history.Probe { // clocks of several machines say nothing of one
		return
	}
	if !c.shard {
		c.faults.standstills.Next(ev)
	}
	switch ev.Phase {
	case history.Call:
		c.advance(op, interval.Call(op))
		c.count(op)
		c.called(op)
	case history.Return:
		c.advance(op, interval.Return(op))
		c.returned(op)
	case history.Cut:
		c.cut(op)
		return
	}
	if !c.shard {
		c.follow(ev)
	}
}

// advance brings the key of op to stamp s. Holds that began before s are compared now.
func (c *Checker) advance(op *history.Op, s interval.Stamp) {
	c.last = s
	if op.Key != "" {
		c.settle(c.key(op.Key), s)
	}
}

// key returns the state of the key of this name, and makes it if needed.
func (c *Checker) key(name string) *key {
	if c.recent != nil && c.recent.name == name {
		return c.recent
	}
	k := c.existingKey(name)
	if k == nil {
		k = c.pools.keys.Get()
		k.name, k.now, k.lastEnd = name, interval.Stamp{T: -1}, interval.Stamp{T: -1}
		k.refusal.Begin(c.slack(), c.header.Others)
		k.part = c.partOf(name)
		c.keys[name] = k
	}
	c.recent = k
	return k
}

// existingKey returns the key of this name, nil if there is none yet.
func (c *Checker) existingKey(name string) *key {
	if c.cache == nil {
		return c.keys[name]
	}
	near := &c.cache[count.Hash(name)>>(64-cacheBits)]
	if *near == nil || (*near).name != name {
		*near = c.keys[name]
	}
	return *near
}

// count adds op to the totals of the result.
func (c *Checker) count(op *history.Op) {
	if op.Kind >= history.Lost {
		return
	}
	r := &c.result
	r.Ops++
	if !interval.TellsLease(op) && op.Outcome == history.OK {
		r.LeasesNotTold++
	}
	switch op.Outcome {
	case history.Refused:
		r.Refused++
	case history.Unknown:
		r.Unknown++
	case history.LossReported:
		r.Lost++
	case history.Failed:
		r.Failed++
	}
}
