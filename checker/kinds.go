package checker

import "github.com/lockbench/lockbench"

// A promise is a guarantee by its number, in the order of lockbench.Guarantees.
type promise uint8

const (
	exclusion promise = iota
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
	promises // how many there are
)

// names[p] is the public name of p. TestEveryGuaranteeIsJudged sees that none is left out.
var names = func() (all [promises]lockbench.Guarantee) {
	for i, g := range lockbench.Guarantees() {
		if i < len(all) {
			all[i] = g.Name
		}
	}
	return all
}()

// A Question is what a user asks of a lock. Each kind of violation answers one.
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
func Asks(g lockbench.Guarantee) Question {
	for _, k := range kinds {
		if names[k.breaks[0]] == g {
			return k.question
		}
	}
	return TwoAtOnce
}

// A kind is a way in which a guarantee is broken.
type kind uint8

const (
	overlapping kind = iota
	workedOn
	updateLost
	fenceNotRaised
	staleAdmitted
	grantedEarly
	extendBroken
	grantedCancelled
	cancelledGaveNothing
	lostReplyGave
	freedByPastOwner
	lostToPastOwner
	takenOnServer
	overlappingBesideStale
	lostToStaleCall
	innerFreed
	innerLost
	grantedInDelay
	refusedFree
	refusedFlushed
	refusedDead
	refusedThread
	refusedLost
	refusedCancelled
	refusedLeft
	ownRefused
	scriptMissing
	notTold
	falselyTold
	falselyToldFlushed
	lostReplyTook
	toldRefused
	violationKinds // how many there are
)

// kinds say of each kind which guarantees it may break, of which one at least is broken,
// the likeliest first; which question it answers; what happened, with the clients involved,
// in order, in place of %s; and whether violate counts the occasion, too, since no monitor
// has counted it before.
var kinds = [violationKinds]struct {
	breaks   []promise
	question Question
	sentence string
	occasion bool
}{
	overlapping: {one(exclusion), TwoAtOnce, "%s and %s held the key at the same time, both within their validity", false},
	workedOn:    {one(exclusion), TwoAtOnce, "%s worked on past its validity while %s held the key", false},

	updateLost:     {one(effects), LostUpdate, "the update by %s was overwritten by %s, which had not seen it", false},
	fenceNotRaised: {one(fencing), LostUpdate, "%s was granted the key before %s, whose fence is not higher", false},
	staleAdmitted:  {one(fencing), LostUpdate, "a write by %s was admitted with a lower fence than one before it", false},

	grantedEarly:           {one(leaseKept), TooShort, "the lease of %s was not over when %s was granted the key", false},
	extendBroken:           {one(leaseKept), TooShort, "%s had extended its lease, yet %s was granted the key before the end", false},
	grantedCancelled:       {one(leaseKept), TooShort, "the acquire by %s was cancelled and yet granted, within the lease of %s", false},
	cancelledGaveNothing:   {one(leaseKept), TooShort, "the acquire by %s was cancelled and yet granted, and within its lease %s was granted the key", false},
	lostReplyGave:          {one(leaseKept), TooShort, "the reply to %s was lost or not waited for, and within the lease of %s %s was granted the key", false},
	freedByPastOwner:       {one(ownerRelease), TooShort, "%s had lost the key, yet what it sent took it from %s, and %s was granted it", false},
	lostToPastOwner:        {one(ownerRelease), TooShort, "%s had lost the key, yet what it sent took it from %s", false},
	takenOnServer:          {one(ownerRelease), TooShort, "%s had lost the key, yet what it sent took it on the server from %s", false},
	overlappingBesideStale: {[]promise{ownerRelease, exclusion}, TwoAtOnce, "%s and %s held the key at the same time, both within their validity, which what a past owner sent may have done", true},
	lostToStaleCall:        {[]promise{ownerRelease, lossReported}, TooShort, "%s was told that it had lost the key, which only what others had sent before it was granted it can have taken", true},
	innerFreed:             {one(reentrancy), TooShort, "an inner release by %s freed the key: %s was granted it", false},
	innerLost:              {one(reentrancy), TooShort, "an inner release by %s freed the key: it was told that it had lost it", false},
	grantedInDelay:         {one(releaseDelay), TooShort, "%s released with a delay, and within it %s was granted the key", false},

	refusedFree:      {one(noSpuriousRefusal), Stuck, "%s was refused a key that nobody held", true},
	refusedFlushed:   {one(noSpuriousRefusal), Stuck, "the server forgot its scripts, and %s was refused a key that nobody held", true},
	refusedDead:      {one(recovery), Stuck, "%s died, its lease was long over, and %s was refused the key", true},
	refusedThread:    {one(recovery), Stuck, "%s died in a process that lives on, its lease was long over, and %s was refused the key", true},
	refusedLost:      {one(recovery), Stuck, "the reply to %s was lost, no lease could have lasted, and %s was refused the key", true},
	refusedCancelled: {one(recovery), Stuck, "the acquire by %s was cancelled or timed out, no lease could have lasted, and %s was refused the key", true},
	refusedLeft:      {[]promise{recovery, noSpuriousRefusal}, Stuck, "%s was refused a key that nobody held, which one of many faults may have left so", true},
	ownRefused:       {one(reentrancy), Stuck, "%s was refused the key that it held", true},
	scriptMissing:    {one(answers), Stuck, "the server forgot its scripts, and a call by %s failed for it", true},

	notTold:            {one(lossReported), ToldWrong, "%s had lost the key to %s and was not told", false},
	falselyTold:        {one(lossReported), ToldWrong, "%s was told that it had lost the key while nobody else could have it", true},
	falselyToldFlushed: {one(lossReported), ToldWrong, "the server forgot its scripts, and %s was told that it had lost the key while nobody else could have it", true},
	lostReplyTook:      {[]promise{ownerRelease, lossReported}, ToldWrong, "the reply to %s was lost or not waited for, and what it sent took the key from %s", true},
	toldRefused:        {one(answers), ToldWrong, "the reply to %s was lost, and it was told that another had the key, which nobody had", true},
}

func one(p promise) []promise { return []promise{p} }
