package runner

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/results"
)

// A Together judges the histories of machines that used the same keys at the same time, by
// [checker.Between]. It is not safe for concurrent use.
type Together struct {
	names []string // of runs, in order
	runs  map[string]*jointRun
}

// A jointRun has the machines of one run, in the order of their shares.
type jointRun struct {
	judged   []results.Judged
	machines []*checker.Machine
	pairs    []checker.MachinePair // set by join
}

// SharesKeys reports whether the file path has the history of one of several machines that use the same keys.
func SharesKeys(path string) bool {
	src, err := history.Open(path)
	if err != nil {
		return false // who reads it gets the error
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	h := src.Header()
	return sharesKeys(&h)
}

// Judge measures the history of a machine, and keeps its holds. It is like the function [Judge]. Histories without
// a share are of one run.
func (t *Together) Judge(path string, claims []string, sinks ...Sink) error {
	src, err := history.Open(path)
	if err != nil {
		return err
	}
	if c, closes := src.(io.Closer); closes {
		defer c.Close()
	}
	defer collectAt(whileJudging)()
	j, m, err := judgeBy(src, path, claims, join(sinks...), ofMachine)
	if err != nil {
		return err
	}
	name := ""
	if !j.Header.Share.Whole() {
		name = runOf(&j.Header)
	}
	if t.runs[name] == nil {
		if t.runs == nil {
			t.runs = map[string]*jointRun{}
		}
		t.runs[name] = &jointRun{}
		t.names = append(t.names, name)
	}
	t.runs[name].add(j, m)
	return nil
}

// Join returns the judgement of each run. It returns an error if a run has one history, or some that cannot be of one
// run.
func (t *Together) Join() (all []results.Judged, err error) {
	for _, name := range t.names {
		r := t.runs[name]
		if len(r.judged) == 1 {
			return nil, fmt.Errorf("%s is the history of one machine; hint: name the histories of all machines", r.judged[0].History)
		}
		run, err := r.join()
		if err != nil {
			return nil, err
		}
		all = append(all, run)
	}
	return all, nil
}

// add adds a machine.
func (r *jointRun) add(j results.Judged, m *checker.Machine) {
	at := len(r.judged)
	for at > 0 && r.judged[at-1].Header.Share.Index > j.Header.Share.Index {
		at--
	}
	r.judged, r.machines = slices.Insert(r.judged, at, j), slices.Insert(r.machines, at, m)
}

// join returns the judgement of all machines together. It returns an error if two histories cannot be of one run.
func (r *jointRun) join() (results.Judged, error) {
	parts := slices.Clone(r.judged)
	for i := range parts {
		if parts[i].Header.Design != parts[0].Header.Design && parts[i].Header.Share.Whole() {
			parts[i].Header.Design = parts[0].Header.Design // the name of its file
		}
	}
	run, err := joinRun(parts)
	if err != nil {
		return run, err
	}
	joint := checker.Between(r.machines...)
	r.pairs = joint.Pairs
	v := &run.Verdicts
	v.Findings, v.Breaches, v.WorstOverlap = joint.Cells.List(), 0, 0
	for _, f := range v.Findings {
		v.Breaches += f.Violations
		if f.Counterexample != nil {
			v.WorstOverlap = max(v.WorstOverlap, f.Counterexample.Margin)
		}
	}
	for i := range run.Machines {
		if parts[i].Header.Share.Whole() {
			run.Machines[i].Number = i + 1
		}
		if parts[i].History != "" {
			run.Together = append(run.Together, parts[i].History)
		}
	}
	run.Notes = slices.DeleteFunc(run.Notes, func(n string) bool { return n == othersNote || n == sharedNote })
	run.Notes = append(run.Notes, notesBetween(joint)...)
	return run, nil
}

// notesBetween returns notes on what the clocks of machines could show.
func notesBetween(j checker.Joint) (notes []string) {
	for _, p := range j.Pairs {
		who := fmt.Sprintf("machines %d and %d", p.A, p.B)
		if p.Widest == 0 {
			notes = append(notes, fmt.Sprintf("%s: their holds cannot be compared; lost updates: %d", who, p.Lost))
			continue
		}
		notes = append(notes, fmt.Sprintf("%s: holds that an acquire of the other one met: %d; overlaps: %d; lost updates: %d; pairs of holds closer than the clocks are known: %d. An overlap is found if it is longer than %v, at worst %v",
			who, p.Met, p.Broken, p.Lost, p.Undecided, p.Width.Round(time.Microsecond), p.Widest.Round(time.Microsecond)))
	}
	if j.Unknown > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d holds were at times when the clock of their machine is not known, before the first probe, after the last one or after a change of a clock", j.Unknown, j.Holds))
	}
	return notes
}
