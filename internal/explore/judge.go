package explore

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
)

// header returns the header of the histories of all schedules.
func header(c Config) history.Header {
	return history.Header{
		Schema:       history.Schema,
		Design:       c.Design.Name,
		Claims:       c.Design.Claims,
		Reacquire:    string(c.Design.Reacquire),
		Renews:       c.Design.Renews,
		RenewsUnseen: c.Design.RenewsUnseen,
		ToleranceNS:  int64(c.Design.Tolerance),
		Workload:     "explore/" + c.Scenario,
		Params:       map[string]any{"probe": c.Clients},
		Seed:         c.Seed,
		Server:       runinfo.Server{Kind: "embedded"},
	}
}

// judged returns the verdicts on the schedule that just ran. They are valid until the next
// schedule.
func (w *world) judged() checker.Result {
	return w.judgedBy(func() checker.Result {
		w.judge.Reset(w.header)
		for ev := range w.tape.Source(w.trailer).Events() { // a tape has no errors
			w.judge.Add(ev)
		}
		return w.judge.Finish(w.trailer)
	})
}

// judgedAtLength returns the verdicts on the schedule that just ran, with counterexamples and the
// cross-check.
func (w *world) judgedAtLength() checker.Result {
	return w.judgedBy(func() checker.Result {
		c := checker.New(w.header)
		for ev := range w.tape.Source(w.trailer).Events() {
			c.Add(ev)
		}
		return c.Finish(w.trailer)
	})
}

// judgedBy returns judge's verdicts on the schedule that just ran. If an operation failed after a
// script flush, it runs the schedule again with a flush that does nothing, and then once more: the
// flush is decisive if only the operation of the first run fails.
func (w *world) judgedBy(judge func() checker.Result) checker.Result {
	w.header.Faults = w.faults
	r := judge()
	if !w.blamesFlush(r) {
		return r
	}
	made, halted, notes := slices.Clone(w.made), !w.ended, w.notes
	w.notes = nil
	again := func(f flush) bool {
		if err := w.repeat(f, made, halted); err != nil {
			w.defect(fmt.Sprintf("a schedule with a script flush cannot run again: %v", err))
			return false
		}
		w.header.Faults = w.faults
		r = judge()
		return w.blamesFlush(r)
	}
	if again(inertFlush) {
		again(undecidedFlush)
	} else {
		again(decisiveFlush)
	}
	w.flush, w.made, w.notes = decisiveFlush, append(w.made[:0], made...), notes
	return r
}

// blamesFlush reports whether r has a broken cell of answers after a script flush, and an operation
// failed without NOSCRIPT, which would prove the cause.
func (w *world) blamesFlush(r checker.Result) bool {
	broken := slices.ContainsFunc(r.Findings, func(f checker.CellFinding) bool {
		return f.Cell.Guarantee == lockbench.Answers && f.Cell.Under.Has(lockbench.ScriptFlush) && f.Violations > 0
	})
	if !broken {
		return false
	}
	for ev := range w.tape.Source(w.trailer).Events() {
		if ev.Op.ErrorClass() == "error" {
			return true
		}
	}
	return false
}

// repeat runs the schedule of the choices made once more, with another effect of a script flush.
func (w *world) repeat(f flush, made []strategy.Choice, halted bool) error {
	w.end()
	w.flush = f
	if halted {
		made = append(slices.Clip(made), strategy.Choice{Verb: strategy.VerbStop, Actor: strategy.NoActor})
	}
	follow := &strategy.Guided{Choices: made}
	follow.Begin()
	if _, err := w.run(follow); err != nil {
		return err
	}
	return w.finish()
}

// A flush is the effect and the record of a script flush.
type flush uint8

const (
	decisiveFlush  flush = iota // recorded as decisive, see [fault.Decisive]
	inertFlush                  // as decisive; the server forgets no script
	undecidedFlush              // not recorded as decisive
)

// flushScripts applies a script flush. It is decisive only for locks whose errors are their own: an adapter
// may answer that it does not know, because of another client.
func (w *world) flushScripts() {
	value := int64(fault.Decisive)
	if w.flush == undecidedFlush || w.cfg.Design.Foreign {
		value = 0
	}
	w.serverRecord.Fault(string(fault.ScriptFlush), value)
	if w.flush != inertFlush {
		w.server.ScriptFlush()
	}
}

// emptyResult returns the findings on a history without events: on these cells and on every
// guarantee.
func emptyResult(h history.Header, cells []lockbench.Cell) checker.Result {
	h.Exercises, h.Faults = cells, nil
	return checker.New(h).Finish(history.End{})
}

// broken reports whether f has a violation that counts against the claims or, if against is not
// set, one that does not.
func broken(f *checker.CellFinding, against bool) bool {
	if against {
		return f.Against > 0
	}
	return f.Violations > f.Against
}

// firstBroken returns the broken cell of the guarantee of within that has the fewest conditions,
// none of them outside of within; false if there is none.
func firstBroken(r checker.Result, within lockbench.Cell, against bool) (lockbench.Cell, bool) {
	want := failure{against: against}.finding()
	for i := range r.Findings {
		f := &r.Findings[i]
		if broken(f, against) && (f.Cell == within || checker.Explains(f.Cell, within, &f.Finding, &want)) {
			return f.Cell, true
		}
	}
	return lockbench.Cell{}, false
}
