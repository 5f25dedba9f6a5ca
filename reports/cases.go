package reports

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/thresholds"
)

// A suite is what was asked of one design, as test reports tell it: one of its cases
// fails or errs exactly where the exit code is not that of success.
type suite struct {
	name  string
	cases []testCase
	run   *Run // nil where it is no run's
	took  time.Duration
}

// A testCase is one thing that was asked.
type testCase struct {
	name  string
	state caseState
	// message says in one line what was found; evidence shows it.
	message, evidence string
	broken            bool // a cell, claimed or not
}

// A caseState is what became of a test case. Three colours cannot tell five verdicts
// apart, so green is for what was seen to hold, and what breaks no claim is skipped: a
// green "exclusion" beside a lock that was seen granted twice would be a lie.
type caseState uint8

const (
	caseErred   caseState = iota // inconclusive, which is never success
	casePassed                   // held
	caseSkipped                  // nothing was promised: untested, or broken but not claimed
	caseFailed                   // a claim was broken, or a threshold failed
)

// suites are all that a result says, a suite per design.
func (r *Result) suites() []suite {
	all := []suite{}
	merged := r.Designs()
	labels := merged.Labels()
	for i := range merged.Runs {
		run := &merged.Runs[i]
		s := suite{name: labels[i], run: run, took: r.took(run), cases: []testCase{run.wholeCase()}}
		s.cases = append(s.cases, merged.thresholdCases(i)...)
		for _, cell := range run.Cells.Sorted() {
			s.cases = append(s.cases, merged.cellCase(run, cell))
		}
		all = append(all, s)
	}
	for _, name := range r.NotRun {
		all = append(all, suite{name: name, cases: []testCase{{name: "run", state: caseErred, message: "not run"}}})
	}
	all = append(all, r.withoutDesign()...)
	if len(all) == 0 {
		return []suite{{name: "lockbench", cases: []testCase{{name: "run", state: caseErred, message: "nothing was run"}}}}
	}
	return all
}

// took is how long the measured part of a run was, or the exploration of its design in
// all scenarios.
func (r *Result) took(run *Run) time.Duration {
	if run.Exploration == nil {
		return time.Duration(run.MeasuredNS)
	}
	total := time.Duration(0)
	for i := range r.Runs {
		if x := r.Runs[i].Exploration; x != nil && r.Runs[i].Design == run.Design {
			total += time.Duration(x.Timings.Elapsed)
		}
	}
	return total
}

// withoutDesign are the suites that belong to no design.
func (r *Result) withoutDesign() (all []suite) {
	if c := r.SelfCheck; c != nil {
		found := testCase{name: "a lock broken on purpose is caught", state: casePassed, message: "it broke " + c.MustBreak.String()}
		if !c.Caught {
			found.state, found.message = caseErred, "what held counts as untested: "+c.reason()
		}
		all = append(all, suite{name: "self-check", cases: []testCase{found}})
	}
	for i := range r.Thresholds {
		if th := &r.Thresholds[i]; th.Outcome == thresholds.Inconclusive && !th.undecidedInRun() {
			all = append(all, suite{name: "thresholds", cases: []testCase{{name: th.Threshold, state: caseErred, message: "it applied to no run"}}})
		}
	}
	return all
}

// undecidedInRun reports whether a reading says what kept the threshold undecided.
func (th *Threshold) undecidedInRun() bool {
	for _, r := range th.Readings {
		if r.Outcome == thresholds.Inconclusive {
			return true
		}
	}
	return false
}

// wholeCase is whether the run could be judged at all, and was what had been asked for.
func (r *Run) wholeCase() testCase {
	_, why := r.unfit()
	if why == "" && r.Exit != FailedThreshold && r.OpenLoop != nil && !r.OpenLoop.KeptUp {
		why = "it was not offered the load that was asked for: " + r.OpenLoop.Why
	}
	switch {
	case r.lacks:
		return testCase{name: "run", state: caseSkipped, message: "the design lacks what this needs"}
	case why != "":
		return testCase{name: "run", state: caseErred, message: why}
	}
	found := testCase{name: "run", state: casePassed, message: plural(r.Counts.Grants, "grant") + " judged"}
	if r.Ended == endedByUser {
		found.message += ", until it was interrupted"
	}
	if much := r.unanswered(); much != "" {
		found.message += "; " + much
	}
	return found
}

// unfit says why the run could not be judged, as what it did, in brief, and in full; empty
// if it could.
func (r *Run) unfit() (brief, full string) {
	switch {
	case r.lacks:
		return "", ""
	case len(r.Defects) > 0:
		return "met a defect of lockbench", "a defect of lockbench: " + strings.Join(r.Defects, "; ")
	case r.Error != "":
		return "met an error", r.Error
	case r.Partial:
		return "left a partial record", "the record is partial: " + r.Why
	case r.unmeasured():
		return "was never granted a lock", "no lock was granted"
	case len(r.unmet()) > 0:
		kind := r.unmet()[0].Kind
		return "met no lock with fault " + kind, "fault " + kind + " met no lock"
	}
	return "", ""
}

// thresholdCases are the thresholds that were judged on run i.
func (r *Result) thresholdCases(i int) (all []testCase) {
	for k := range r.Thresholds {
		th := &r.Thresholds[k]
		for _, reading := range th.Readings {
			if reading.Run == i {
				all = append(all, testCase{
					name: "threshold " + th.Threshold, state: outcomeState(reading.Outcome),
					message: strings.Trim(th.Metric+" "+th.tell(reading), " "),
				})
			}
		}
	}
	return all
}

func outcomeState(o thresholds.Outcome) caseState {
	switch o {
	case thresholds.Failed:
		return caseFailed
	case thresholds.Passed:
		return casePassed
	case thresholds.NotApplicable:
		return caseSkipped
	}
	return caseErred
}

// cellCase is one cell of a run.
func (r *Result) cellCase(run *Run, cell lockbench.Cell) testCase {
	f := run.Cells[cell]
	found := testCase{name: cell.String(), broken: f.Verdict == checker.Broken}
	found.state, found.message = stateOf(f, run.Cells.open(cell) && !run.lacks, run.Reason(cell))
	if found.broken {
		found.evidence = r.passage(run, cell)
	}
	return found
}

// stateOf says what a verdict is as a test, and why; open where it makes the run inconclusive.
// unclaimed is why it is not claimed, empty where it is or nobody says.
func stateOf(g Finding, open bool, unclaimed string) (caseState, string) {
	switch said := detail(g); {
	case g.fails():
		return caseFailed, sentence(g, "broken, and the design claims it")
	case g.Verdict == checker.Broken:
		if unclaimed == "" {
			unclaimed = "it counts against no claim"
		}
		return caseSkipped, sentence(g, "broken, but "+unclaimed)
	case g.Verdict == checker.Held:
		return casePassed, said
	case g.Verdict == checker.NotApplicable:
		return caseSkipped, joined("not for this design", said)
	case open:
		return caseErred, joined("claimed, but it met too little to say", said)
	case g.Claimed:
		return caseSkipped, joined("claimed, but not exercised", said)
	default:
		return caseSkipped, joined("untested", said)
	}
}

// sentence is what happened in one line, if there is a counterexample, else the verdict.
func sentence(g Finding, verdict string) string {
	if g.Counterexample == nil {
		return joined(verdict, detail(g))
	}
	return verdict + ": " + g.Counterexample.Sentence
}

func joined(what, more string) string {
	if more == "" {
		return what
	}
	return what + ": " + more
}

// passage is the part of the terminal report on a cell that was broken.
func (r *Result) passage(run *Run, cell lockbench.Cell) string {
	var buf bytes.Buffer
	t := terminal{page: newPage(&buf, TerminalOptions{}), result: r, label: newLabel(r.Runs)}
	if run.Exploration != nil {
		e := exploration{terminal: t}
		e.brokenCell(run, cell, make(map[lockbench.Cell]*Schedule))
	} else {
		t.brokenCell(run, cell, make(map[lockbench.Cell]*Counterexample))
		fmt.Fprintf(t, "\n  check it again: %s\n", recheck(run))
	}
	_ = t.Flush() // to memory
	return strings.Trim(buf.String(), "\n")
}
