package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// The monitor of answers judges two things. After the server forgot its scripts, a call must load
// them again instead of failing. And an acquire that was granted must not be answered as refused;
// nospuriousrefusal.go finds such answers, since it knows when the key was free.
var _ = monitorOf(answers, monitor{
	untested: "nothing happened after which an answer could be untrue",
	on: [factKinds]func(*Checker, fact){
		factAnswered: scriptAnswer,
	},
})

// Kinds of violation.
var (
	scriptMissing = kindAndOccasion(answers, Stuck, "the server forgot its scripts, and a call by %s failed for it")
	toldRefused   = kindAndOccasion(answers, ToldWrong, "the reply to %s was lost, and it was told that another had the key, which nobody had")
)

// scriptAnswer judges the answer to f.op, if the server had forgotten its scripts before.
func scriptAnswer(c *Checker, f fact) {
	op, class, faults := f.op, f.op.ErrorClass(), &c.faults
	forgot := faults.Flush != nil || faults.Restart != nil
	switch {
	case class == "noscript" && forgot && !f.key.renewsReleased(op):
	case class == "error" && (interval.TookTooLong(op) || c.faults.standstills.Met(op.Call, op.Return)): // its time ran out
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
	if class != "noscript" { // another error may have other causes
		under |= faults.Lasting() | c.answering(op)
	}
	c.violate(candidate{kind: scriptMissing, key: f.key, ops: shown, under: under})
}

// renewsReleased reports whether op is a failed renewal of a hold that its owner had released by
// then, so that nothing was left to renew.
func (k *key) renewsReleased(op *history.Op) bool {
	h := k.find(op.Hold)
	return op.Kind == history.Renew && op.Outcome == history.Failed && (h == nil || h.Released)
}
