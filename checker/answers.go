package checker

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
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

// scriptAnswer judges the answer to f.op, if the server had forgotten its scripts before. NOSCRIPT
// proves its cause. Another error may have any cause, such as a lease that the lock found too short
// when it looked: it counts only after a flush that an exploration found decisive, and if no time
// passed since the operation last tried.
func scriptAnswer(c *Checker, f fact) {
	op, class, faults := f.op, f.op.ErrorClass(), &c.faults
	flush := faults.Flush
	switch {
	case class == "noscript" && (flush != nil || faults.Restart != nil) && !f.key.renewsReleased(op):
	case class == "error" && flush != nil && flush.Value == fault.Decisive && op.Kind != history.Renew &&
		op.Return == interval.LastTry(op).T && !f.key.affected.Has(op):
	case op.Outcome == history.OK && flush != nil && faults.FlushMet:
		c.expose(answers, lockbench.ScriptFlush)
		return
	default:
		return
	}
	shown, under := []*history.Op{op}, lockbench.ScriptFlush
	if flush != nil {
		shown = append(shown, flush)
	}
	if class != "noscript" {
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
