package conclusion

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// A Word is a conclusion.
type Word string

// The words, from the worst to the best.
const (
	// DoNotUse is for a lock that leaves a key stuck, has two owners even when nothing goes wrong,
	// or has a breach that a guard in the store does not stop.
	DoNotUse Word = "do not use"
	// NotWithoutGuard is for a lock with a breach, if nobody tried whether a guard in the store stops
	// it.
	NotWithoutGuard Word = "do not use without a guard"
	// NotKnown is for a lock that was tested too little for any other word.
	NotKnown Word = "not known"
	// NeedsGuard is for a lock if a guard in the store stops all its breaches and late writes.
	NeedsGuard Word = "safe only with a guard"
	// Safe is for a lock that broke nothing on enough occasions, see [Enough].
	Safe Word = "safe within its lease"
	// SafeSession is Safe for a lock without a lease.
	SafeSession Word = "safe within its session"
)

// Words are all words, from the best to the worst.
var Words = []Word{Safe, SafeSession, NeedsGuard, NotKnown, NotWithoutGuard, DoNotUse}

// A Conclusion is the conclusion on a lock as one word, with the reason.
type Conclusion struct {
	Word Word `json:"word"`
	// Breach is the kind of the decisive breach, empty if nothing broke, and Why the reason in a few
	// words, which begin with it.
	Breach Breach `json:"breach,omitempty"`
	Why    string `json:"why"`
	// Cell is the decisive cell, and Source the source of the finding; empty if nothing
	// broke.
	Cell   lockbench.Cell `json:"cell,omitzero"`
	Source Source         `json:"source,omitempty"`
	// Shows is the command that reproduces the violation of Cell, empty if the run itself shows it.
	Shows string `json:"shows,omitempty"`
	// Guard is the guard that stops the breaches, if one is needed.
	Guard lockbench.Guard `json:"guard,omitempty"`
	// BrokenUnder are the sets of conditions under which two owners, or lost updates, were seen. It
	// leaves out sets that include another.
	BrokenUnder []lockbench.Conditions `json:"broken_under,omitempty"`
	// Late reports whether all breaches are by owners that work on past their lease.
	Late bool `json:"late,omitempty"`
	// Open lists the conditions that were tested too little, or not at all.
	Open []Open `json:"open,omitempty"`
	// LeftOut are the conditions that the conclusion does not cover.
	LeftOut []lockbench.Conditions `json:"left_out,omitempty"`
}

// An Open is a condition that was tested too little.
type Open struct {
	Under lockbench.Conditions `json:"under"`
	// Of is the kind of breach that was tested for: [TwoOwners] or [Stuck].
	Of Breach `json:"of"`
	// Occasions is the number of occasions under the condition, fewer than [Enough].
	Occasions int64 `json:"occasions"`
}

// A Breach is a kind of breach: what a user meets.
type Breach string

// The kinds of breach.
const (
	TwoOwners  Breach = "two-owners"  // two own a key at once
	Stuck      Breach = "stuck"       // a key stays locked, and nobody owns it
	LateOwner  Breach = "late-owner"  // an owner works on past its lease, beside the next one
	LostUpdate Breach = "lost-update" // an update is overwritten by an owner that had not seen it
	ToldWrong  Breach = "told-wrong"  // an answer of the lock was untrue
)

// breachOf has the kind of breach for each question that a violation answers. A key that is taken
// from its owner too soon has two owners once the next one comes.
var breachOf = [checker.Questions]Breach{
	checker.TwoAtOnce: TwoOwners, checker.TooShort: TwoOwners, checker.LostUpdate: LostUpdate,
	checker.Stuck: Stuck, checker.ToldWrong: ToldWrong,
}

// Enough is the number of occasions without a breach that rules out a rate of one breach in
// a hundred, at a confidence of 95 %.
const Enough = 299

// Usual returns the conditions that a conclusion covers by default: all except skewed clocks, lost
// data, the loss of a primary, and killed sessions.
func Usual() lockbench.Conditions {
	all := All()
	return all &^ (lockbench.Skew | lockbench.StateLoss | lockbench.Failover | lockbench.SessionKilled)
}

// All returns all conditions.
func All() (all lockbench.Conditions) {
	for _, c := range lockbench.AllConditions() {
		all |= c.Condition
	}
	return all
}

// A Lock has the properties of a lock that matter for a conclusion, beside the findings.
type Lock struct {
	// Leaseless reports whether the lock has no lease: a hold lasts as long as the session of its
	// owner.
	Leaseless bool
	// Guard is the guard that the lock was measured with.
	Guard lockbench.Guard
	// LeaseUnit is the unit in which the lock counts leases: a lease may end early by as much. Zero
	// is a lock that is exact. OddLeases are the client programs that request fractions of a unit.
	LeaseUnit time.Duration
	OddLeases []string
	// Foreign are the conditions that cannot happen to the lock, such as a lost reply to a lock in
	// a directory.
	Foreign lockbench.Conditions
}

// better orders words from the worst to the best.
var better = map[Word]int{DoNotUse: 0, NotWithoutGuard: 1, NotKnown: 2, NeedsGuard: 3, Safe: 5, SafeSession: 5}

// Rank returns the position of the conclusion among all: a greater position is safer. A lock that
// breaks only when its owner is late is safer than one that breaks within the lease, although a
// guard stops both.
func (c *Conclusion) Rank() int {
	rank := better[c.Word]
	if c.Word == NeedsGuard && c.Late {
		rank++
	}
	return rank
}

// Recommended reports whether the lock can be recommended: it is safe, at least with a guard.
func (c *Conclusion) Recommended() bool { return c.Rank() >= better[NeedsGuard] }
