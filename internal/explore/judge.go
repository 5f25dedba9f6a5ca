package explore

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/runinfo"
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
		Server:       runinfo.Server{Kind: "embedded"},
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

// judgedAtLength judges it once more, at length: with counterexamples, and with the
// cross-check.
func (w *world) judgedAtLength() checker.Result {
	w.header.Faults = w.faults
	c := checker.New(w.header)
	for ev := range w.tape.Source(w.trailer).Events() {
		c.Add(ev)
	}
	return c.Finish(w.trailer)
}

// emptyResult is what is found of these cells, and of every guarantee, when nothing happens.
func emptyResult(h history.Header, cells []lockbench.Cell) checker.Result {
	h.Exercises, h.Faults = cells, nil
	return checker.New(h).Finish(history.End{})
}

// broken reports whether f has a violation that counts against the claims, or one that
// does not.
func broken(f *checker.CellFinding, against bool) bool {
	if against {
		return f.Against > 0
	}
	return f.Violations > f.Against
}

// firstBroken returns the first cell, by how many conditions it has, that breaks the guarantee
// of within under these conditions or fewer of them; false when there is none.
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
