package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// The monitor of answers judges that a call fails only for the holder of the key, and that what it is
// told is true: where the server forgot its scripts, the lock is to load them again and go
// on. An acquire that is told that it was refused what it had been granted is found by
// nospuriousrefusal.go, which knows what was free.
var _ = monitorOf(answers, monitor{
	untested: "nothing happened after which an answer could be untrue",
	on: [factKinds]func(*Checker, fact){
		factAnswered: scriptAnswer,
	},
})

// The ways to break it.
var (
	scriptMissing = kindAndOccasion(answers, Stuck, "the server forgot its scripts, and a call by %s failed for it")
	toldRefused   = kindAndOccasion(answers, ToldWrong, "the reply to %s was lost, and it was told that another had the key, which nobody had")
)

// scriptAnswer judges the answer to f.op, where the server forgot its scripts before it.
func scriptAnswer(c *Checker, f fact) {
	op, class, faults := f.op, f.op.ErrorClass(), &c.faults
	forgot := faults.Flush != nil || faults.Restart != nil
	switch {
	case class == "noscript" && forgot && !f.key.renewsReleased(op):
	case class == "error" && (interval.TookTooLong(op) || c.faults.standstills.Met(op.Call, op.Return)): // it ran out of time
		return
	case class == "error" && faults.Flush == nil:
		faults.Errors = true
		return
	case class == "error" && !faults.Errors && !f.key.affected.Has(op) && op.Kind != history.Renew:
	case op.Outcome == history.OK && faults.Flush != nil && faults.FlushMet:
		c.expose(answers, lockbench.ScriptFlush)
		return
	default:
		return
	}
	shown, under := []*history.Op{op}, lockbench.ScriptFlush
	if faults.Flush != nil {
		shown = append(shown, faults.Flush)
	}
	if class != "noscript" { // which would prove this one alone
		under |= faults.Lasting() | c.answering(op)
	}
	c.violate(candidate{kind: scriptMissing, key: f.key, ops: shown, under: under})
}

// renewsReleased reports whether op is a renewal that did nothing, of a hold that its owner has
// released meanwhile: there was nothing left to renew.
func (k *key) renewsReleased(op *history.Op) bool {
	h := k.find(op.Hold)
	return op.Kind == history.Renew && op.Outcome == history.Failed && (h == nil || h.Released)
}
