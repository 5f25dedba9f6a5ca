package lockbench

import (
	"slices"
)

// A Guarantee is a promise of a lock. Events that happened to the lock meanwhile are
// [Conditions]; a claim is a guarantee under conditions, a [Cell]. Names are stable: they
// appear in results, histories and command lines.
type Guarantee string

// The guarantees, in the order in which reports show them.
const (
	Exclusion         Guarantee = "exclusion"
	LeaseKept         Guarantee = "lease"
	OwnerRelease      Guarantee = "owner-release"
	Reentrancy        Guarantee = "reentrancy"
	ReleaseDelay      Guarantee = "release-delay"
	LossReported      Guarantee = "loss-reported"
	Answers           Guarantee = "answers"
	NoSpuriousRefusal Guarantee = "no-spurious-refusal"
	Recovery          Guarantee = "recovery"
	Fencing           Guarantee = "fencing"
	Effects           Guarantee = "effects"
	WakeUp            Guarantee = "wake-up"
)

// GuaranteeInfo describes a guarantee: its promise is one sentence.
type GuaranteeInfo struct {
	Name    Guarantee
	Promise string
	// About are the conditions that the promise itself is about: every claim of the guarantee is a
	// claim under these, too.
	About Conditions
}

var guarantees = []GuaranteeInfo{
	{Exclusion, "within validity no two owners hold one key", 0},
	{LeaseKept, "nobody else is granted the key before the granted lease, extended or not, is over", 0},
	{OwnerRelease, "what a past owner sends does nothing to the next owner", Outlived},
	{Reentrancy, "nested acquires count, and only the last release frees", 0},
	{ReleaseDelay, "after ReleaseAfter(d) nobody is granted the key before d has passed", 0},
	{LossReported, "an owner that lost the lock is told so at its next call, and nobody else is", Outlived},
	{Answers, "a call fails only for the holder of the key, and what it is told is true", 0},
	{NoSpuriousRefusal, "a try of a provably free key is granted", 0},
	{Recovery, "a key that nobody alive owns comes free within its lease and the named slack", 0},
	{Fencing, "fences rise with every grant; a store that checks them admits no stale write", Outlived},
	{Effects, "the guarded state lost no update", 0},
	{WakeUp, "a waiter is granted a key that becomes free during its wait", 0},
}

// Guarantees lists every guarantee in the order in which reports show them.
func Guarantees() []GuaranteeInfo { return slices.Clone(guarantees) }

// Info returns the description of g, or the zero GuaranteeInfo for an unknown name.
func (g Guarantee) Info() GuaranteeInfo {
	for _, i := range guarantees {
		if i.Name == g {
			return i
		}
	}
	return GuaranteeInfo{}
}

// order returns the place of g among [Guarantees], or -1 for an unknown name.
func (g Guarantee) order() int {
	return slices.IndexFunc(guarantees, func(i GuaranteeInfo) bool { return i.Name == g })
}

// parseGuarantee returns the guarantee of that name. The error lists similar names.
func parseGuarantee(name string) (Guarantee, error) {
	if g := Guarantee(name); g.order() >= 0 {
		return g, nil
	}
	known := guaranteeNames()
	if slices.Contains(conditionNames(), name) {
		return "", misplaced("guarantee", name, "condition", string(Exclusion)+"@"+name, known)
	}
	return "", unknown("guarantee", name, known)
}

func guaranteeNames() []string {
	var names []string
	for _, i := range guarantees {
		names = append(names, string(i.Name))
	}
	return names
}
