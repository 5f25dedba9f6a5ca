package checker

import (
	"slices"
	"sync"

	"github.com/lockbench/lockbench"
)

// A guaranteeID is the index of a guarantee in lockbench.Guarantees.
type guaranteeID uint8

const (
	exclusion guaranteeID = iota
	leaseKept
	ownerRelease
	reentrancy
	releaseDelay
	lossReported
	answers
	noSpuriousRefusal
	recovery
	fencing
	effects
	wakeUp
	guaranteeCount // number of guarantees
)

// names[p] is the public name of guarantee p. TestEveryGuaranteeIsComplete checks that none is
// missing.
var names = [guaranteeCount]lockbench.Guarantee{
	exclusion:         lockbench.Exclusion,
	leaseKept:         lockbench.LeaseKept,
	ownerRelease:      lockbench.OwnerRelease,
	reentrancy:        lockbench.Reentrancy,
	releaseDelay:      lockbench.ReleaseDelay,
	lossReported:      lockbench.LossReported,
	answers:           lockbench.Answers,
	noSpuriousRefusal: lockbench.NoSpuriousRefusal,
	recovery:          lockbench.Recovery,
	fencing:           lockbench.Fencing,
	effects:           lockbench.Effects,
	wakeUp:            lockbench.WakeUp,
}

// A Question is a question of a user about a lock. Each kind of violation answers one.
type Question uint8

// The questions, the gravest first.
const (
	TwoAtOnce  Question = iota // were there two owners?
	LostUpdate                 // was the guarded state damaged?
	TooShort                   // was the lock taken from its owner too soon?
	Stuck                      // was a client refused for no reason, or for ever?
	ToldWrong                  // was an answer of the lock untrue?
	Questions                  // number of questions
)

var questionNames = [Questions]string{"two at once", "lost update", "too short", "stuck", "told wrong"}

// String returns the question as the head of a column.
func (q Question) String() string { return questionNames[q] }

// Asks returns the question that violations of g answer, except for kinds of violation that have a
// question of their own.
func Asks(g lockbench.Guarantee) Question { return questions()[g] }

var questions = sync.OnceValue(func() map[lockbench.Guarantee]Question {
	first := make(map[lockbench.Guarantee]Question)
	for _, k := range slices.Backward(kinds) {
		first[names[k.breaks[0]]] = k.question
	}
	return first
})

// A kind is a kind of violation. The file of the guarantee declares it; nil is no violation.
type kind struct {
	question Question
	sentence string // what happened; the verbs %s stand for the clients involved, in order
	// occasion: violate also counts the occasion, since no monitor has counted it before.
	occasion bool
	breaks   []guaranteeID // at least one of these is broken; the likeliest is first
}

// kinds are all kinds of violation. The kinds of one guarantee are in the order of its file.
var kinds []*kind

// kindOf declares a kind of violation that breaks guarantee p, or one of others instead. No
// parameter has a default, so that the compiler asks for the question.
func kindOf(p guaranteeID, q Question, sentence string, others ...guaranteeID) *kind {
	k := &kind{breaks: append([]guaranteeID{p}, others...), question: q, sentence: sentence}
	kinds = append(kinds, k)
	return k
}

// kindAndOccasion declares a kind with occasion set.
func kindAndOccasion(p guaranteeID, q Question, sentence string, others ...guaranteeID) *kind {
	k := kindOf(p, q, sentence, others...)
	k.occasion = true
	return k
}
