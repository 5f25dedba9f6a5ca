package explore

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// header says how the histories of all schedules are to be read.
func header(c Config) history.Header {
	return history.Header{
		Schema:      history.Schema,
		Design:      c.Design.Name,
		Claims:      c.Design.Claims,
		Reacquire:   string(c.Design.Reacquire),
		Renews:      c.Design.Renews,
		ToleranceNS: int64(c.Design.Tolerance),
		Workload:    "explore/" + c.Scenario,
		Params:      map[string]any{"probe": c.Clients},
		Seed:        c.Seed,
		Server:      history.Server{Kind: "embedded"},
	}
}

// judged returns the verdicts on the schedule just run. They are good until the next.
func (w *world) judged() checker.Result {
	w.header.Faults = w.faults
	w.judge.Reset(w.header)
	for ev := range w.tape.Source(w.trailer).Events() { // a tape has no errors
		w.judge.Add(ev)
	}
	return w.judge.Finish(w.trailer)
}

// explained judges it once more, at length: with witnesses, and with the cross-check.
func (w *world) explained() checker.Result {
	w.header.Faults = w.faults
	c := checker.New(w.header)
	for ev := range w.tape.Source(w.trailer).Events() {
		c.Add(ev)
	}
	return c.Finish(w.trailer)
}

// rank orders verdicts by what they say of a lock: the higher one counts where two
// schedules differ.
func rank(v checker.Verdict) int {
	switch v {
	case checker.Broken:
		return 4
	case checker.Hazard:
		return 3
	case checker.Held:
		return 2
	case checker.Untested:
		return 1
	}
	return 0
}
