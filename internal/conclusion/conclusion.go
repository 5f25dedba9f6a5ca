package conclusion

import (
	"github.com/lockbench/lockbench"
)

// A Word is a conclusion.
type Word string

// The words, from the worst to the best.
const (
	// DoNotUse: a key gets stuck, or a guard in the store does not stop a breach.
	DoNotUse Word = "do not use"
	// NotKnown: too little was tested to say more.
	NotKnown Word = "not known"
	// NeedsGuard: a guard in the store stops every breach and every late write.
	NeedsGuard Word = "safe only with a guard"
	// Safe: nothing broke in enough tests.
	Safe Word = "safe within its lease"
	// SafeSession is Safe for a lock without a lease.
	SafeSession Word = "safe within its session"
)

// Words are all words, from the best to the worst.
var Words = []Word{Safe, SafeSession, NeedsGuard, NotKnown, DoNotUse}

// A Conclusion is the judgement of a lock in a word, with the reason.
type Conclusion struct {
	Word Word `json:"word"`
	// Why is the reason, in a few words.
	Why string `json:"why"`
	// Cell is the decisive cell, and Source the source of the finding; empty if nothing
	// broke.
	Cell   lockbench.Cell `json:"cell,omitzero"`
	Source Source         `json:"source,omitempty"`
	// Shows is the command that reproduces it, empty if the run itself shows it.
	Shows string `json:"shows,omitempty"`
	// Guard is the guard that stops the breaches, if one is needed.
	Guard lockbench.Guard `json:"guard,omitempty"`
	// Late: the only breaches are by owners that work on past their lease.
	Late bool `json:"late,omitempty"`
	// Open lists the conditions that were tested too little, or not at all.
	Open []Open `json:"open,omitempty"`
	// LeftOut are the conditions that it is not about.
	LeftOut []lockbench.Conditions `json:"left_out,omitempty"`
}

// An Open is a condition that was tested too little.
type Open struct {
	Under lockbench.Conditions `json:"under"`
	// Of is the kind of breach that was tested for: "two owners" or "a stuck key".
	Of string `json:"of"`
	// Occasions is the number of occasions that tested it, fewer than [Enough].
	Occasions int64 `json:"occasions"`
}

// Enough is the number of occasions without a breach that rules out a rate of one breach in
// a hundred, at a confidence of 95 %.
const Enough = 299

// Usual returns the conditions that a conclusion is about by default: all except skewed
// clocks, lost data, and the loss of a primary.
func Usual() lockbench.Conditions {
	all := All()
	return all &^ (lockbench.Skew | lockbench.StateLoss | lockbench.Failover)
}

// All returns all conditions.
func All() (all lockbench.Conditions) {
	for _, c := range lockbench.AllConditions() {
		all |= c.Condition
	}
	return all
}

// A Lock has the properties of a lock that a conclusion depends on, beside the findings.
type Lock struct {
	// Leaseless: a hold lasts as long as the owner's session.
	Leaseless bool
	// Guard is the guard that was measured with it.
	Guard lockbench.Guard
	// Foreign are the conditions that cannot happen to it, such as a lost reply to a lock in
	// a directory.
	Foreign lockbench.Conditions
}

// better orders words from the worst to the best.
var better = map[Word]int{DoNotUse: 0, NotKnown: 1, NeedsGuard: 2, Safe: 4, SafeSession: 4}

// Rank orders conclusions: a greater one is safer. A lock that breaks only when its owner is
// late is safer than one that breaks within the lease, although a guard stops both.
func (c *Conclusion) Rank() int {
	rank := better[c.Word]
	if c.Word == NeedsGuard && c.Late {
		rank++
	}
	return rank
}

// Recommended reports whether the lock can be used.
func (c *Conclusion) Recommended() bool { return c.Rank() >= better[NeedsGuard] }
