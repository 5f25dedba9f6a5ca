package reports

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure/thresholds"
	"github.com/lockbench/lockbench/reports/internal/document"
	"github.com/lockbench/lockbench/results"
)

// resultSuites returns the test cases of a result, a suite per design.
func resultSuites(r *results.Result) []document.Suite {
	all := []document.Suite{}
	merged := r.Designs()
	labels := labels(&merged)
	for i := range merged.Runs {
		run := &merged.Runs[i]
		s := document.Suite{Name: labels[i], Properties: properties(run), Started: run.Started, Took: took(r, run), Cases: []document.Case{judgedCase(run)}}
		s.Cases[0].Sources = append(concludedProperties(run.Conclusion), sourceProperties(run)...)
		s.Cases = append(s.Cases, thresholdCases(&merged, i)...)
		for _, cell := range sourced(run).Sorted() {
			addCell(&s, resultCellCase(&merged, run, cell))
		}
		all = append(all, s)
	}
	for _, name := range r.NotRun {
		all = append(all, document.Suite{Name: name, Cases: []document.Case{{Name: "run", State: document.Erred, Message: "not run"}}})
	}
	all = append(all, withoutDesign(r)...)
	if len(all) == 0 {
		return []document.Suite{{Name: "lockbench", Cases: []document.Case{{Name: "run", State: document.Erred, Message: "nothing was run"}}}}
	}
	return all
}

// notTried is the property of a suite with the cells that have no case, since nothing tried them.
const notTried = "not tried"

// addCell adds the case of a cell to its suite. A cell that nothing tried, or that is not for the design,
// is no test: its name is in a property, the last one. What any source found broken is a test.
func addCell(s *document.Suite, c document.Case) {
	if broken := strengthRank[c.Strength] >= strengthRank[wordUnclaim]; c.State != document.Skipped || c.Broken || broken {
		s.Cases = append(s.Cases, c)
		return
	}
	if n := len(s.Properties); n > 0 && s.Properties[n-1][0] == notTried {
		s.Properties[n-1][1] += ", " + c.Name
		return
	}
	s.Properties = append(s.Properties, [2]string{notTried, c.Name})
}

// took returns the duration of the measured part of a run, or of the exploration of its design
// in all scenarios.
func took(r *results.Result, run *results.Run) time.Duration {
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

// withoutDesign returns the suites that do not belong to a design, such as the self-check.
func withoutDesign(r *results.Result) (all []document.Suite) {
	if c := r.SelfCheck; c != nil {
		found := document.Case{Name: "a lock broken on purpose is caught", State: document.Held, Message: "it broke " + c.MustBreak.String()}
		if !c.Caught {
			found.State, found.Message = document.Erred, "what held counts as untested: "+c.Reason()
		}
		all = append(all, document.Suite{Name: "self-check", Cases: append([]document.Case{found}, probeCases(c)...)})
	}
	for i := range r.Thresholds {
		if th := &r.Thresholds[i]; th.Outcome == thresholds.Inconclusive && !th.UndecidedInRun() {
			all = append(all, document.Suite{Name: "thresholds", Cases: []document.Case{{Name: th.Threshold, State: document.Erred, Message: "it applied to no run"}}})
		}
	}
	return all
}

// probeCases returns a test case for each probe: a broken lock that was run for a single condition.
func probeCases(c *results.SelfCheck) (all []document.Case) {
	for _, p := range c.Probes {
		found := document.Case{Name: "a lock broken on purpose is caught under " + p.MustBreak.Under.String(), State: document.Held, Message: "it broke " + p.MustBreak.String()}
		if !p.Caught {
			found.State, found.Message = document.Erred, "what held under "+p.MustBreak.Under.String()+" counts as untested: "+p.Reason()
		}
		all = append(all, found)
	}
	return all
}

// judgedCase returns the test case on whether the run could be judged at all, under the requested
// load.
func judgedCase(r *results.Run) document.Case {
	_, why := r.WhyInconclusive()
	if why == "" && r.Exit != results.FailedThreshold && r.OpenLoop != nil && !r.OpenLoop.KeptUp {
		why = "it was not offered the load that was asked for: " + r.OpenLoop.Why
	}
	switch {
	case r.Lacks:
		return document.Case{Name: "run", State: document.Skipped, Message: "the design lacks what this needs"}
	case why != "":
		return document.Case{Name: "run", State: document.Erred, Message: why}
	}
	found := document.Case{Name: "run", State: document.Held, Message: figures.Plural(r.Counts.Grants, "grant") + " judged"}
	if much := r.Unanswered(); much != "" {
		found.Message += "; " + much
	}
	return found
}

// thresholdCases returns the test cases of the thresholds that were judged on run i.
func thresholdCases(r *results.Result, i int) (all []document.Case) {
	for k := range r.Thresholds {
		th := &r.Thresholds[k]
		for _, reading := range th.Readings {
			if reading.Run == i {
				all = append(all, document.Case{
					Name: "threshold " + th.Threshold, State: outcomeState(reading.Outcome),
					Message: strings.Trim(th.Metric+" "+readingText(th, reading), " "),
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

// resultCellCase returns the test case of one cell of a run.
func resultCellCase(r *results.Result, run *results.Run, cell lockbench.Cell) document.Case {
	f := run.Cells.At(cell)
	found := document.Case{Name: cell.String(), Broken: f.Verdict == checker.Broken}
	found.State, found.Message = stateOf(f, run.Cells.Open(cell) && !run.Lacks, runReason(run, cell), run.AssumedClaims)
	if found.Broken {
		found.Evidence = passage(run, cell)
	}
	addSources(&found, run, cell)
	return found
}

// stateOf returns the state of a test case for the finding g, with the reason. open reports whether
// the finding makes the run inconclusive. unclaimed is the reason why the cell is not claimed,
// empty if it is claimed or no reason is known. assumed reports
// that nobody stated claims.
func stateOf(g results.Finding, open bool, unclaimed string, assumed bool) (document.State, string) {
	switch said := detail(g); {
	case g.Fails():
		return document.Failed, sentence(g, "broken, and "+claimed(assumed))
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

// sentence returns the counterexample in one line, or the verdict if there is none.
func sentence(g results.Finding, verdict string) string {
	if g.Counterexample == nil {
		return joinedBy(": ", verdict, detail(g))
	}
	return verdict + ": " + g.Counterexample.Sentence
}

// passage returns the evidence that a cell was broken, without the rest of the report.
func passage(r *results.Run, cell lockbench.Cell) []document.Block {
	j := runJudgement(r, cell)
	g := &gallery{}
	blocks := []document.Block{g.section(&j)}
	if r.Exploration == nil {
		blocks = append(blocks, recheck(r))
	}
	return blocks
}

// properties returns the properties of the test suite of a run.
func properties(r *results.Run) [][2]string {
	all := [][2]string{
		{"design", r.Design}, {"workload", r.Workload}, {"seed", strconv.FormatUint(r.Seed, 10)},
		{"history", r.History}, {"exit", strconv.Itoa(r.Exit)},
	}
	all = append(all, strengthProperties(r)...)
	return append(append(all, concludedProperties(r.Conclusion)...), sourceProperties(r)...)
}

// concludedProperties returns the conclusion on a design and its reason as properties; none if c is
// nil.
func concludedProperties(c *conclusion.Conclusion) [][2]string {
	if c == nil {
		return nil
	}
	return [][2]string{{"conclusion", string(c.Word)}, {"why", because(c)}}
}
