package explore

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
)

// header says how the histories of all schedules are to be read.
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
		Server:       history.Server{Kind: "embedded"},
	}
}

// judged returns the verdicts on the schedule just run. They are good until the next.
func (w *world) judged() checker.Result {
	w.holdTo()
	w.judge.Reset(w.header)
	for ev := range w.tape.Source(w.trailer).Events() { // a tape has no errors
		w.judge.Add(ev)
	}
	return w.limited(w.judge.Finish(w.trailer))
}

// explained judges it once more, at length: with witnesses, and with the cross-check.
func (w *world) explained() checker.Result {
	w.holdTo()
	c := checker.New(w.header)
	for ev := range w.tape.Source(w.trailer).Events() {
		c.Add(ev)
	}
	return w.limited(c.Finish(w.trailer))
}

// holdTo sets what the schedule just run is held to: the design's claims, without
// those that it gives up under the faults that struck.
func (w *world) holdTo() {
	w.header.Faults = w.faults
	if d := &w.cfg.Design; len(d.Limits) > 0 {
		w.header.Claims = d.ClaimsUnder(w.struck())
	}
}

// struck lists the faults of the schedule just run, as limits name them.
func (w *world) struck() []string {
	for _, f := range w.faults {
		if died := f == string(DieBefore) || f == string(DieAfter); died && w.cfg.Threads > 1 {
			return append(w.faults[:len(w.faults):len(w.faults)], design.ThreadDeath)
		}
	}
	return w.faults
}

// limited says of what was broken under a limit of the design that it is not held
// to it there, and why.
func (w *world) limited(r checker.Result) checker.Result {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Verdict != checker.Broken || f.Claimed {
			continue
		}
		if l, given := w.cfg.Design.LimitOn(f.Guarantee, w.struck()); given {
			f.Note = "not claimed under " + l.Fault + ": " + l.Why
		}
	}
	return r
}

// graver tells whether f says more of a lock than other, or worse, and so counts
// where two schedules differ. What is broken though claimed comes first.
func graver(f, other *checker.Finding) bool {
	if f.Verdict == checker.Broken && other.Verdict == checker.Broken {
		return f.Claimed && !other.Claimed
	}
	return f.Verdict.Graver(other.Verdict)
}

// shows tells whether a verdict is something to show a schedule for.
func shows(v checker.Verdict) bool { return v == checker.Broken || v == checker.Hazard }
