package reports

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/internal/thresholds"
	"github.com/lockbench/lockbench/reports/internal/document"
)

// suites are all that a result says, a suite per design.
func (r *Result) suites() []document.Suite {
	all := []document.Suite{}
	merged := r.designs()
	labels := merged.labels()
	for i := range merged.Runs {
		run := &merged.Runs[i]
		s := document.Suite{Name: labels[i], Properties: run.properties(), Started: run.Started, Took: r.took(run), Cases: []document.Case{run.wholeCase()}}
		s.Cases = append(s.Cases, merged.thresholdCases(i)...)
		for _, cell := range run.Cells.sorted() {
			s.Cases = append(s.Cases, merged.cellCase(run, cell))
		}
		all = append(all, s)
	}
	for _, name := range r.NotRun {
		all = append(all, document.Suite{Name: name, Cases: []document.Case{{Name: "run", State: document.Erred, Message: "not run"}}})
	}
	all = append(all, r.withoutDesign()...)
	if len(all) == 0 {
		return []document.Suite{{Name: "lockbench", Cases: []document.Case{{Name: "run", State: document.Erred, Message: "nothing was run"}}}}
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
func (r *Result) withoutDesign() (all []document.Suite) {
	if c := r.SelfCheck; c != nil {
		found := document.Case{Name: "a lock broken on purpose is caught", State: document.Held, Message: "it broke " + c.MustBreak.String()}
		if !c.Caught {
			found.State, found.Message = document.Erred, "what held counts as untested: "+c.reason()
		}
		all = append(all, document.Suite{Name: "self-check", Cases: []document.Case{found}})
	}
	for i := range r.Thresholds {
		if th := &r.Thresholds[i]; th.Outcome == thresholds.Inconclusive && !th.undecidedInRun() {
			all = append(all, document.Suite{Name: "thresholds", Cases: []document.Case{{Name: th.Threshold, State: document.Erred, Message: "it applied to no run"}}})
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
func (r *Run) wholeCase() document.Case {
	_, why := r.unfit()
	if why == "" && r.Exit != FailedThreshold && r.OpenLoop != nil && !r.OpenLoop.KeptUp {
		why = "it was not offered the load that was asked for: " + r.OpenLoop.Why
	}
	switch {
	case r.lacks:
		return document.Case{Name: "run", State: document.Skipped, Message: "the design lacks what this needs"}
	case why != "":
		return document.Case{Name: "run", State: document.Erred, Message: why}
	}
	found := document.Case{Name: "run", State: document.Held, Message: figures.Plural(r.Counts.Grants, "grant") + " judged"}
	if r.Ended == endedByUser {
		found.Message += ", until it was interrupted"
	}
	if much := r.unanswered(); much != "" {
		found.Message += "; " + much
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
func (r *Result) thresholdCases(i int) (all []document.Case) {
	for k := range r.Thresholds {
		th := &r.Thresholds[k]
		for _, reading := range th.Readings {
			if reading.Run == i {
				all = append(all, document.Case{
					Name: "threshold " + th.Threshold, State: outcomeState(reading.Outcome),
					Message: strings.Trim(th.Metric+" "+th.tell(reading), " "),
				})
			}
		}
	}
	return all
}

func outcomeState(o thresholds.Outcome) document.State {
	switch o {
	case thresholds.Failed:
		return document.Failed
	case thresholds.Passed:
		return document.Held
	case thresholds.NotApplicable:
		return document.Skipped
	}
	return document.Erred
}

// cellCase is one cell of a run.
func (r *Result) cellCase(run *Run, cell lockbench.Cell) document.Case {
	f := run.Cells[cell]
	found := document.Case{Name: cell.String(), Broken: f.Verdict == checker.Broken}
	found.State, found.Message = stateOf(f, run.Cells.open(cell) && !run.lacks, run.reason(cell))
	if found.Broken {
		found.Evidence = run.passage(cell)
	}
	return found
}

// stateOf says what a verdict is as a test, and why; open where it makes the run inconclusive.
// unclaimed is why it is not claimed, empty where it is or nobody says.
func stateOf(g Finding, open bool, unclaimed string) (document.State, string) {
	switch said := detail(g); {
	case g.fails():
		return document.Failed, sentence(g, "broken, and the design claims it")
	case g.Verdict == checker.Broken:
		if unclaimed == "" {
			unclaimed = "it counts against no claim"
		}
		return document.Skipped, sentence(g, "broken, but "+unclaimed)
	case g.Verdict == checker.Held:
		return document.Held, said
	case g.Verdict == checker.NotApplicable:
		return document.Skipped, joinedBy(": ", "not for this design", said)
	case open:
		return document.Erred, joinedBy(": ", "claimed, but it met too little to say", said)
	case g.Claimed:
		return document.Skipped, joinedBy(": ", "claimed, but not exercised", said)
	default:
		return document.Skipped, joinedBy(": ", "untested", said)
	}
}

// sentence is what happened in one line, if there is a counterexample, else the verdict.
func sentence(g Finding, verdict string) string {
	if g.Counterexample == nil {
		return joinedBy(": ", verdict, detail(g))
	}
	return verdict + ": " + g.Counterexample.Sentence
}

// passage is what shows that a cell was broken, by itself.
func (r *Run) passage(cell lockbench.Cell) []document.Block {
	j := r.judgement(cell)
	g := &gallery{}
	blocks := []document.Block{g.section(&j)}
	if r.Exploration == nil {
		blocks = append(blocks, r.recheck())
	}
	return blocks
}

// properties are those of a test suite.
func (r *Run) properties() [][2]string {
	return [][2]string{
		{"design", r.Design}, {"workload", r.Workload}, {"seed", strconv.FormatUint(r.Seed, 10)},
		{"history", r.History}, {"exit", strconv.Itoa(r.Exit)},
	}
}
