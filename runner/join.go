package runner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// Join joins the judgements of shares of runs ([Plan.Share]), in any order, to the judgements of the runs.
// Verdicts are joined by [checker.Join] and figures by the rules of reports: counts and rates add up, and
// percentiles are of all durations. A run of which a share is missing is partial. The History of a run is the
// history of the share with the most breaches. Join returns an error that
// names the files if one is no share, if one is there twice, or if two differ in more than their share.
func Join(shares []results.Judged) (runs []results.Judged, err error) {
	byRun := make(map[string][]results.Judged)
	var order []string
	for _, j := range shares {
		if j.Header.Share.Whole() {
			return nil, fmt.Errorf("%s: it is no part of a run but a whole one; hint: lockbench check judges it, and run --share 1/2 makes parts", j.History)
		}
		name := runOf(&j.Header)
		if len(byRun[name]) == 0 {
			order = append(order, name)
		}
		byRun[name] = append(byRun[name], j)
	}
	for _, name := range order {
		run, err := joinRun(byRun[name])
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// runOf returns a text that the headers of the shares of one run of a session have in common, and those of no other.
func runOf(h *history.Header) string {
	return fmt.Sprint(h.Design, h.Params["guard"], h.Params["clients"], h.Params["keys"])
}

// joinRun joins the shares of one run.
func joinRun(shares []results.Judged) (run results.Judged, err error) {
	slices.SortStableFunc(shares, func(a, b results.Judged) int { return a.Header.Share.Index - b.Header.Share.Index })
	first := &shares[0]
	run = results.Judged{Header: first.Header}
	run.Header.Share = runinfo.Share{}
	var verdicts []checker.Result
	var figures []measure.Measures
	for i := range shares {
		j := &shares[i]
		if i > 0 {
			if err := sameRun(&shares[i-1], j); err != nil {
				return run, err
			}
		}
		if j.Header.Started < run.Header.Started {
			run.Header.Started = j.Header.Started
		}
		verdicts, figures = append(verdicts, j.Verdicts), append(figures, j.Measures)
		run.Machines = append(run.Machines, j.Machine())
		run.End = joinEnds(run.End, j.End)
		run.Within = max(run.Within, j.Within)
		run.Err = errors.Join(run.Err, j.Err)
		for _, n := range j.Notes {
			if !slices.Contains(run.Notes, n) {
				run.Notes = append(run.Notes, n)
			}
		}
	}
	run.Verdicts, run.Measures = checker.Join(verdicts...), measure.Join(figures...)
	run.History = slices.MaxFunc(shares, func(a, b results.Judged) int { return cmp.Compare(a.Verdicts.Breaches, b.Verdicts.Breaches) }).History
	if missing := missing(shares); missing != "" {
		run.Verdicts.Partial, run.Verdicts.Why = true, missing
	}
	if b := run.Measures.Business; b != nil && b.Why == "" {
		w, err := workloads.Find(workloads.Live, run.Header.Workload)
		if err != nil {
			return run, err
		}
		b.Says = w.Says(b.Figures)
	}
	run.Notes = append(run.Notes, notesOn(shares)...)
	return run, nil
}

// sameRun returns an error unless a and b, in the order of their shares, are two shares of one run.
func sameRun(a, b *results.Judged) error {
	if a.Header.Share == b.Header.Share && !a.Header.Share.Whole() {
		return fmt.Errorf("%s and %s: both are part %v of the run; hint: each part once", a.History, b.History, a.Header.Share)
	}
	if was, is := a.Header.Environment.Version, b.Header.Environment.Version; was != is {
		return fmt.Errorf("%s: lockbench %s made it, and %s made %s; hint: the same lockbench on all machines", b.History, is, was, a.History)
	}
	was, is := settings(&a.Header), settings(&b.Header)
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if string(was[name]) != string(is[name]) {
			return fmt.Errorf("%s: %s is %s, and %s in %s: they are no parts of one run; hint: the same flags on all machines, but --share", b.History, name, orUnset(is[name]), orUnset(was[name]), a.History)
		}
	}
	return nil
}

func orUnset(value json.RawMessage) string {
	if value == nil {
		return "not set"
	}
	return string(value)
}

// settings returns the fields of a header that the shares of a run have in common.
func settings(h *history.Header) map[string]json.RawMessage {
	common := *h
	common.Share.Index = 0
	common.Started, common.Environment, common.Server = "", runinfo.Environment{}, runinfo.Server{}
	var fields map[string]json.RawMessage
	text, err := json.Marshal(&common)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		panic(err) // a header was read from JSON
	}
	return fields
}

// missing says which shares of a run are missing, empty for none.
func missing(shares []results.Judged) string {
	of := shares[0].Header.Share.Of
	var numbers []string
	for i := range of {
		if !slices.ContainsFunc(shares, func(j results.Judged) bool { return j.Header.Share.Index == i }) {
			numbers = append(numbers, runinfo.Share{Index: i, Of: of}.String())
		}
	}
	if len(numbers) == 0 {
		return ""
	}
	return "without part " + strings.Join(numbers, ", ") + " of the run"
}

// joinEnds returns the end of the history of a run from the ends of two shares.
func joinEnds(a, b history.End) history.End {
	sum := &a.Trailer
	if a.Partial = a.Partial || b.Partial; a.Why == "" {
		a.Why = b.Why
	}
	sum.EndNS = max(sum.EndNS, b.Trailer.EndNS)
	sum.Commands += b.Trailer.Commands
	sum.Ops += b.Trailer.Ops
	sum.MonitorEntries += b.Trailer.MonitorEntries
	overlaps := maps.Clone(b.Trailer.MonitorOverlaps)
	if overlaps == nil {
		overlaps = map[string]int64{}
	}
	for key, n := range sum.MonitorOverlaps {
		overlaps[key] += n
	}
	sum.MonitorOverlaps = overlaps
	if sum.Ended == "" || sum.Ended == load.EndedDuration || sum.Ended == load.EndedOperations {
		sum.Ended = b.Trailer.Ended
	}
	sum.Faults = slices.Clone(sum.Faults)
	for _, f := range b.Trailer.Faults {
		i := slices.IndexFunc(sum.Faults, func(o runinfo.FaultExposure) bool { return o.Fault == f.Fault })
		if i < 0 {
			sum.Faults = append(sum.Faults, f)
			continue
		}
		its := &sum.Faults[i]
		if fault.OfServer(f.Kind) { // it met all shares at once
			its.Occurrences, its.MetHeld = max(its.Occurrences, f.Occurrences), max(its.MetHeld, f.MetHeld)
			continue
		}
		its.Occurrences += f.Occurrences
		its.MetHeld += f.MetHeld
		its.MetAcquire += f.MetAcquire
	}
	return a
}

// leastTogether is the least share of the time of a run in which all its parts run.
const leastTogether = 0.9

// notesOn returns notes on what several machines cannot show, and on parts that did not run together.
func notesOn(shares []results.Judged) []string {
	if len(shares) == 1 && shares[0].Header.Share.Whole() {
		return nil
	}
	notes := []string{fmt.Sprintf("%d machines each used keys of their own: a key that several machines compete for, clocks that differ between its clients, "+
		"and equal host names and process ids of its clients were not tested", len(shares))}
	if shares[0].Header.Others {
		notes[0] = fmt.Sprintf("%d machines competed for the same keys: of the guarantees only %s, %s and %s are judged, "+
			"the first and the last by bounds on the machines' clocks, and equal host names and process ids of the clients were not tested",
			len(shares), lockbench.Exclusion, lockbench.Effects, lockbench.Fencing)
	}
	var from, to, last, first time.Time
	for i, j := range shares {
		if j.End.Partial { // its end is not known
			return notes
		}
		start, err := time.Parse(time.RFC3339Nano, j.Header.Started)
		if err != nil {
			return append(notes, fmt.Sprintf("%s does not say when it started", j.History))
		}
		end := start.Add(time.Duration(j.End.Trailer.EndNS))
		if i == 0 || start.After(last) {
			last = start
		}
		if i == 0 || start.Before(from) {
			from = start
		}
		if i == 0 || end.Before(first) {
			first = end
		}
		if i == 0 || end.After(to) {
			to = end
		}
	}
	if together, all := first.Sub(last), to.Sub(from); together.Seconds() < leastTogether*all.Seconds() {
		notes = append(notes, fmt.Sprintf("by their machines' clocks the parts ran together for %v of %v: the rate is the sum of their own rates", max(0, together).Round(time.Millisecond), all.Round(time.Millisecond)))
	}
	return notes
}
