package results

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// AddExplored takes up the exploration of a design in its scenarios, of which there is
// one at least. The part's name, command and completeness are the caller's.
func (r *MatrixRow) AddExplored(p MatrixPart, runs []Explored) {
	all := NewExploration(runs, nil)
	merged := byDesign(all).Runs[0]
	h := runs[0].Header
	p.Seed, p.Params, p.Faults, p.Server = h.Seed, h.Params, h.Faults, h.Server
	p.Error, p.Defects, p.Grants = merged.Error, merged.Defects, merged.Counts.Grants
	for i := range runs {
		if runs[i].Lacks != "" {
			continue
		}
		p.Covered = append(p.Covered, Covered{Scenario: runs[i].Header.Workload, Coverage: runs[i].Coverage})
		p.ElapsedNS += int64(runs[i].Elapsed)
	}
	r.Add(p, evidence(&merged))
}

// AddRun takes up a live run of a design. The part's name, command and completeness
// are the caller's.
func (r *MatrixRow) AddRun(p MatrixPart, j *Judged) {
	run := newRun(j)
	p.Seed, p.Params, p.Faults, p.Server = run.Seed, run.Params, run.Faults, j.Header.Server
	p.Injected, p.Error, p.Defects, p.Notes = run.Injected, run.Error, run.Defects, run.Notes
	p.Grants, p.History, p.Standstills = run.Counts.Grants, run.History, run.Standstills
	if p.Server.Kind == "private" {
		p.Server.Address = "" // it was there for this run only
	}
	if p.Error == "" {
		p.Error = run.notServed()
	}
	if len(run.unmet()) > 0 {
		p.Notes = append(p.Notes, "fault "+run.unmet()[0].Kind+" met no lock")
	}
	found := evidence(&run)
	if run.Guard() != "" { // what a guard stops is not what the lock does by itself
		p.Guarded = Cells{Cells: make(checker.Cells)}
		for cell, e := range found {
			if cell.Guarantee == lockbench.Effects {
				p.Guarded.Set(cell, e.Finding)
			}
		}
		if p.MustBreak.Guarantee == "" {
			found = nil
		}
	}
	r.Add(p, found)
}

// evidence returns the finding of a run on each cell, without cells that it could not put to the test.
func evidence(run *Run) map[lockbench.Cell]Evidence {
	found := make(map[lockbench.Cell]Evidence)
	for cell, f := range run.Cells.All() {
		if f.Verdict == checker.Untested && !f.Exercised {
			continue
		}
		if _, explained := run.Cells.Explained(cell); explained && cell.Under.Count() > 1 { // the evidence for fewer conditions is enough
			f.Counterexample, f.Schedule = nil, nil
		}
		e := Evidence{In: f.Scenarios, Finding: f}
		if len(e.In) == 0 {
			e.In = []string{run.Workload}
		}
		found[cell] = e
	}
	return found
}
