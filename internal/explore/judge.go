package explore

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
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
	w.header.Faults = w.faults
	w.judge.Reset(w.header)
	for ev := range w.tape.Source(w.trailer).Events() { // a tape has no errors
		w.judge.Add(ev)
	}
	return w.judge.Finish(w.trailer)
}

// judgedAtLength returns the verdicts on the schedule that just ran, with counterexamples and the
// cross-check.
func (w *world) judgedAtLength() checker.Result {
	w.header.Faults = w.faults
	c := checker.New(w.header)
	for ev := range w.tape.Source(w.trailer).Events() {
		c.Add(ev)
	}
	return c.Finish(w.trailer)
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
