package conclusion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
)

// safety are the guarantees without which two owners may work on the same thing. Fencing is left
// out, because only a guard reads fences. liveness are the guarantees without which a key may get
// stuck.
var (
	safety = asked(func(g lockbench.Guarantee, q checker.Question) bool {
		return q < checker.Stuck && g != lockbench.Fencing
	})
	liveness = asked(func(_ lockbench.Guarantee, q checker.Question) bool { return q == checker.Stuck })
)

// asked returns the guarantees that match. match receives each guarantee and the question that its
// breaches answer.
func asked(match func(lockbench.Guarantee, checker.Question) bool) (all []lockbench.Guarantee) {
	for _, g := range lockbench.Guarantees() {
		if match(g.Name, checker.Asks(g.Name)) {
			all = append(all, g.Name)
		}
	}
	return all
}

// required has, for each condition, the groups of guarantees that must be tested under it before a
// lock is called safe.
var required = map[lockbench.Conditions]struct{ safety, liveness bool }{
	0:                     {true, true},
	lockbench.Outlived:    {true, false},
	lockbench.Pause:       {true, false},
	lockbench.Crash:       {true, true},
	lockbench.ThreadDeath: {false, true},
	lockbench.LostReply:   {true, true},
	lockbench.Cancel:      {true, true},
	lockbench.Skew:        {true, false},
	lockbench.ScriptFlush: {false, true},
	lockbench.StateLoss:   {true, false},
	lockbench.Failover:    {true, false},

	lockbench.SessionKilled: {true, false},
}

// A question is the input of the rules: a lock, the conditions to cover, and the evidence.
type question struct {
	lock     Lock
	over     lockbench.Conditions
	evidence []Evidence
}

// rules are tried in order; the first that fits decides.
var rules = []struct {
	name string
	fits func(*question) (Conclusion, bool)
}{
	{"a key gets stuck", (*question).stuck},
	{"a breach that a guard does not stop", (*question).unstopped},
	{"two owners, even when nothing goes wrong", (*question).unconditional},
	{"a breach of which nobody knows whether a guard stops it", (*question).unguarded},
	{"every breach is stopped by a guard", (*question).guarded},
	{"too little was tried", (*question).open},
	{"nothing broke", (*question).safe},
}

// Draw returns the conclusion on a lock over these conditions, by the first rule that fits.
func Draw(lock Lock, over lockbench.Conditions, evidence ...Evidence) Conclusion {
	q := question{lock: lock, over: over &^ lock.Foreign, evidence: evidence}
	for _, r := range rules {
		if c, fits := r.fits(&q); fits {
			c.Open = q.opens()
			c.BrokenUnder = q.brokenUnder()
			c.LeftOut = (All() &^ lock.Foreign &^ over).Each()
			return c
		}
	}
	panic("conclusion: no rule fits, not even the last")
}

// breaches returns the broken cells of these guarantees under conditions that count.
func (q *question) breaches(guarded bool, of ...lockbench.Guarantee) []breach {
	return broken(q.evidence, guarded, func(cell lockbench.Cell) bool {
		return q.over.Has(cell.Under) && slices.Contains(of, cell.Guarantee)
	})
}

// brokenUnder returns the smallest sets of conditions under which a guarantee of safety broke.
func (q *question) brokenUnder() (all []lockbench.Conditions) {
	for _, b := range q.breaches(false, safety...) { // the fewest conditions come first
		if !slices.ContainsFunc(all, b.cell.Under.Has) {
			all = append(all, b.cell.Under)
		}
	}
	return all
}

// by returns a conclusion with a breach as its reason.
func by(word Word, b breach) Conclusion {
	kind := b.kind()
	c := Conclusion{Word: word, Breach: kind, Why: string(kind) + when(b.cell.Under), Cell: b.cell, Source: b.from.Source}
	if b.from.Shows != nil {
		c.Shows = b.from.Shows(b.cell)
	}
	return c
}

// when returns the conditions as the end of a phrase.
func when(under lockbench.Conditions) string {
	if under == 0 {
		return ", even when nothing goes wrong"
	}
	return ", when: " + under.Title()
}

func (q *question) stuck() (c Conclusion, fits bool) {
	if all := q.breaches(false, lockbench.Recovery); len(all) > 0 {
		return by(DoNotUse, all[0]), true
	}
	return c, false
}

func (q *question) unstopped() (c Conclusion, fits bool) {
	if all := q.breaches(true, lockbench.Effects); len(all) > 0 {
		c = by(DoNotUse, all[0])
		c.Why += ", with a guard in the store"
		return c, true
	}
	return c, false
}

// unconditional fits a lock that lets two owners in although nothing goes wrong. A guard in the
// store may refuse the second owner, but then the guard alone keeps the data right. Two owners
// because of a lease that the lock cut to its unit of leases do not count.
func (q *question) unconditional() (c Conclusion, fits bool) {
	for _, b := range q.breaches(false, lockbench.Exclusion, lockbench.Effects, lockbench.OwnerRelease) {
		if b.cell.Under == 0 && !q.cut(b) {
			return by(DoNotUse, b), true
		}
	}
	return c, false
}

// cut reports whether a breach may come from a lease that the lock cut to its unit: the requested
// lease was no multiple of it, or the next owner came within the last unit of a lease of several
// units. Early includes the width of the stamps: an owner counts its lease from before the attempt,
// and the next owner has the key by the return of its call.
func (q *question) cut(b breach) bool {
	unit := q.lock.LeaseUnit
	if unit == 0 {
		return false
	}
	other := func(program string) bool { return !slices.Contains(q.lock.OddLeases, program) }
	if in := b.from.Programs[b.cell]; b.from.Lease%unit != 0 || len(in) > 0 && !slices.ContainsFunc(in, other) {
		return true
	}
	early, shown := b.from.Early[b.cell]
	return shown && early <= unit && b.from.Lease > unit
}

// guardedEnough reports whether the guarantee on effects held behind a guard on enough occasions.
func (q *question) guardedEnough() bool {
	n := int64(0)
	for i := range q.evidence {
		if q.evidence[i].Guarded {
			n += q.evidence[i].Cells.Occasions(lockbench.Effects.At(0), checker.Held)
		}
	}
	return n >= Enough
}

func (q *question) unguarded() (c Conclusion, fits bool) {
	all := q.breaches(false, safety...)
	if len(all) == 0 || q.guardedEnough() {
		return c, false
	}
	c = by(NotWithoutGuard, worst(all))
	c.Why += "; a guard was not tried"
	return c, true
}

func (q *question) guarded() (c Conclusion, fits bool) {
	all := q.breaches(false, safety...)
	if len(all) == 0 {
		return c, false
	}
	c = by(NeedsGuard, worst(all))
	c.Late, c.Guard = late(all), q.lock.Guard
	return c, true
}

// worst returns the breach to show. A breach within the lease comes before work past it, and two
// owners before the consequences.
func worst(all []breach) breach {
	for _, b := range all {
		if !checker.Late(b.cell) {
			return b
		}
	}
	return all[0]
}

func late(all []breach) bool {
	return !slices.ContainsFunc(all, func(b breach) bool { return !checker.Late(b.cell) })
}

func (q *question) open() (c Conclusion, fits bool) {
	all := q.opens()
	if len(all) == 0 {
		return c, false
	}
	var words []string
	for _, o := range all[:min(2, len(all))] {
		words = append(words, o.String())
	}
	if more := len(all) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return Conclusion{Word: NotKnown, Why: "too little was tried of " + strings.Join(words, ", ")}, true
}

// String returns the kind of breach, the condition and the number of occasions.
func (o Open) String() string {
	under := o.Under.Title()
	if o.Occasions == 0 {
		return fmt.Sprintf("%s (%s: not at all)", o.Of, under)
	}
	return fmt.Sprintf("%s (%s: %s)", o.Of, under, figures.Plural(o.Occasions, "occasion"))
}

// opens returns the conditions that were tested too little, or not at all, in order.
func (q *question) opens() (all []Open) {
	for _, under := range append([]lockbench.Conditions{0}, q.over.Each()...) {
		wants := required[under]
		if wants.safety && !q.cannotOccur(under) {
			all = q.add(all, under, TwoOwners, safety)
		}
		if wants.liveness {
			all = q.add(all, under, Stuck, liveness)
		}
	}
	return all
}

// cannotOccur reports whether the conditions include an outlived lease although the lock has no
// lease.
func (q *question) cannotOccur(under lockbench.Conditions) bool {
	return q.lock.Leaseless && under == lockbench.Outlived
}

func (q *question) add(all []Open, under lockbench.Conditions, what Breach, of []lockbench.Guarantee) []Open {
	if slices.ContainsFunc(q.breaches(false, of...), func(b breach) bool { return b.cell.Under == under }) {
		return all
	}
	if n := held(q.evidence, of, under); n < Enough {
		return append(all, Open{Under: under, Of: what, Occasions: n})
	}
	return all
}

func (q *question) safe() (Conclusion, bool) {
	if q.lock.Leaseless {
		return Conclusion{Word: SafeSession, Why: "nothing broke that was tried"}, true
	}
	return Conclusion{Word: Safe, Why: "nothing broke that was tried"}, true
}
