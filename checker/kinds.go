package checker

import (
	"slices"
	"sync"

	"github.com/lockbench/lockbench"
)

// A guaranteeID is a guarantee by its number, in the order of lockbench.Guarantees.
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
	guaranteeCount // how many there are
)

// names[p] is the public name of p. TestEveryGuaranteeIsComplete sees that none is left out.
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
	LostUpdate                 // was what they guarded damaged?
	TooShort                   // was the lock taken from its owner too soon?
	Stuck                      // was somebody refused for no reason, or for ever?
	ToldWrong                  // did the lock answer what is not true?
	Questions                  // how many there are
)

var questionNames = [Questions]string{"two at once", "lost update", "too short", "stuck", "told wrong"}

// String returns the question as the head of a column.
func (q Question) String() string { return questionNames[q] }

// Asks returns the question that the kinds of violation of g answer, those apart that
// have one of their own.
func Asks(g lockbench.Guarantee) Question { return questions()[g] }

var questions = sync.OnceValue(func() map[lockbench.Guarantee]Question {
	first := make(map[lockbench.Guarantee]Question)
	for _, k := range slices.Backward(kinds) {
		first[names[k.breaks[0]]] = k.question
	}
	return first
})

// A kind is a way in which a guarantee is broken. The guarantee's file declares it; nil is none.
type kind struct {
	question Question
	sentence string // what happened, with the clients involved, in order, in place of %s
	// occasion: violate counts the occasion, too, since no monitor has counted it before.
	occasion bool
	breaks   []guaranteeID // of which one at least is broken, the likeliest first
}

// kinds are all of them: those of one guarantee in the order of its file.
var kinds []*kind

// kindOf declares a kind: the guarantee that it breaks, or others that it may break instead.
// Nothing has a default, so that the compiler asks for the question.
func kindOf(p guaranteeID, q Question, sentence string, others ...guaranteeID) *kind {
	k := &kind{breaks: append([]guaranteeID{p}, others...), question: q, sentence: sentence}
	kinds = append(kinds, k)
	return k
}

// kindAndOccasion declares a kind of which violate counts the occasion, too.
func kindAndOccasion(p guaranteeID, q Question, sentence string, others ...guaranteeID) *kind {
	k := kindOf(p, q, sentence, others...)
	k.occasion = true
	return k
}
