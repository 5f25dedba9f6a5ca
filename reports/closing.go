package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// open writes the claims that could have been exercised and were not enough.
func (t *terminal) open() {
	t.each("open, claims that met too little to say", Cells.open)
}

// each writes one line per run and cell that matches, by cell, under a heading.
func (t *terminal) each(heading string, match func(Cells, lockbench.Cell) bool) {
	for _, cell := range t.cells() {
		runs := t.runsWith(cell, match)
		if len(runs) == 0 {
			continue
		}
		if heading != "" {
			t.printf("\n%s\n", t.bold(heading))
			heading = ""
		}
		t.cell(cell, runs)
	}
}

// cells are those of all runs.
func (t *terminal) cells() []lockbench.Cell {
	all := make(Cells)
	for i := range t.result.Runs {
		maps.Copy(all, t.result.Runs[i].Cells)
	}
	return all.Sorted()
}

// runsWith lists the runs whose finding on the cell matches.
func (t *terminal) runsWith(cell lockbench.Cell, match func(Cells, lockbench.Cell) bool) []*Run {
	var runs []*Run
	for i := range t.result.Runs {
		run := &t.result.Runs[i]
		if _, judged := run.Cells[cell]; judged && match(run.Cells, cell) {
			runs = append(runs, run)
		}
	}
	return runs
}

// cell writes what runs have to say of one cell; a note that all of them share stands before
// them, once.
func (t *terminal) cell(cell lockbench.Cell, runs []*Run) {
	shared, width := runs[0].Cells[cell].Note, 0
	for _, run := range runs {
		width = max(width, len(t.label.of(run)))
		if run.Cells[cell].Note != shared {
			shared = ""
		}
	}
	heading := cell.String()
	if shared != "" {
		heading += ": " + shared
	}
	t.printf("  %s\n", heading)
	for _, run := range runs {
		f := run.Cells[cell]
		if shared != "" {
			f.Note = ""
		}
		t.printf("    %s\n", strings.TrimRight(fmt.Sprintf("%-*s  %s", width, t.label.of(run), detail(f)), " "))
	}
}

// notExercised names the guarantees that are claimed and that this workload cannot put to the
// test.
func (t *terminal) notExercised() {
	var lines []string
	for _, g := range lockbench.Guarantees() {
		var claiming int
		var designs []string
		for i := range t.result.Runs {
			run := &t.result.Runs[i]
			claimed, exercised := run.claims(g.Name)
			if claimed {
				claiming++
			}
			if claimed && !exercised {
				designs = append(designs, t.label.of(run))
			}
		}
		if len(designs) > 0 {
			lines = append(lines, fmt.Sprintf("  %-19s  %s", g.Name, who(designs, claiming)))
		}
	}
	if len(lines) > 0 {
		t.printf("\n%s\n%s\n", t.bold("claimed, but not exercised by "+t.exercisedBy), strings.Join(lines, "\n"))
	}
}

// claims reports whether g is claimed, and whether it was exercised or met all the same, under
// whatever conditions.
func (r *Run) claims(g lockbench.Guarantee) (claimed, exercised bool) {
	for cell, f := range r.Cells {
		if cell.Guarantee == g {
			claimed = claimed || f.Claimed
			exercised = exercised || f.Exercised || f.Verdict.Graver(checker.Untested)
		}
	}
	return claimed, exercised
}

// who names designs, by number when they are all that claim it and many.
func who(designs []string, claimants int) string {
	if len(designs) == claimants && claimants > 3 {
		return fmt.Sprintf("all %d that claim it", claimants)
	}
	return strings.Join(designs, ", ")
}

// outcome says in one sentence what the exit code means.
func (t *terminal) outcome() {
	headline, why := t.meaning()
	switch t.result.Exit {
	case Passed:
		headline = t.good(headline)
	case BrokenClaim, FailedThreshold:
		headline = t.bad(headline)
	default:
		headline = t.warn(headline)
	}
	t.printf("\n%s: %s (exit %d)\n", headline, why, t.result.Exit)
}

// meaning is what the exit code means, in a few words, and why; and what is not told by
// either: what else was broken, and what success leaves open.
func (t *terminal) meaning() (headline, why string) {
	headline, why = t.verdict()
	if _, unclaimed := t.breakers(); len(unclaimed) > 0 {
		why += "; broken only where nothing was claimed: " + strings.Join(unclaimed, ", ")
	}
	return headline, why + t.leftOpen()
}

// leftOpen is what was cut short, behind a semicolon.
func (t *terminal) leftOpen() (why string) {
	if cut := t.runsThat(func(r *Run) bool { return r.Ended == endedByUser }); cut != "" {
		why += "; interrupted: " + cut
	}
	return why
}

// endedByUser is what the history of a run says that was interrupted.
const endedByUser = "interrupted"

// fewRuns is up to how many runs a sentence names.
const fewRuns = 3

// runsThat names the runs that match, by number where they are many; empty for none.
func (t *terminal) runsThat(match func(*Run) bool) string {
	var names []string
	for i := range t.result.Runs {
		if run := &t.result.Runs[i]; match(run) {
			names = append(names, t.label.of(run))
		}
	}
	if len(names) > fewRuns {
		return fmt.Sprintf("%d of %s", len(names), plural(int64(len(t.result.Runs)), t.unit))
	}
	return strings.Join(names, ", ")
}

// verdict is what the exit code means, in a few words, and why.
func (t *terminal) verdict() (headline, why string) {
	claimed, _ := t.breakers()
	switch t.result.Exit {
	case Passed:
		headline, why = "No claim was broken", heldClaims(slices.ContainsFunc(t.result.Runs, func(r Run) bool { return r.Cells.keepsClaims() }))
	case BrokenClaim:
		headline, why = "Claims were broken", strings.Join(claimed, "; ")
	case FailedThreshold:
		headline, why = "Thresholds failed", strings.Join(t.failures(), "; ")
	default:
		headline, why = "Inconclusive", t.reasons()
	}
	if failed := t.failures(); len(failed) > 0 && t.result.Exit != FailedThreshold {
		why += "; thresholds failed too: " + strings.Join(failed, "; ")
	}
	return headline, why
}

// heldClaims says what it is worth that no claim was broken: next to nothing where none was
// put to the test.
func heldClaims(some bool) string {
	if some {
		return "every claim that this could exercise was held"
	}
	return "nothing was claimed that this could exercise"
}

// breakers names the runs that broke what they claim, with what, and those that
// broke only what they do not.
func (t *terminal) breakers() (claimed, unclaimed []string) {
	for i := range t.result.Runs {
		run := &t.result.Runs[i]
		names := run.Cells.names(func(_ lockbench.Cell, f Finding) bool { return f.fails() })
		switch {
		case len(names) > 0:
			claimed = append(claimed, t.label.of(run)+" broke "+list(names))
		case len(run.Cells.with(checker.Broken)) > 0:
			unclaimed = append(unclaimed, t.label.of(run))
		}
	}
	return claimed, unclaimed
}

// reasons says why nothing can be said, by run.
func (t *terminal) reasons() string {
	var why []string
	if c := t.result.SelfCheck; c != nil && !c.Caught {
		return "a lock broken on purpose was not caught, so that what held counts as untested: " + c.reason()
	}
	for i := range t.result.Runs {
		run := &t.result.Runs[i]
		name := t.label.of(run)
		unfit, _ := run.unfit()
		untested := run.Cells.untested()
		switch {
		case run.Exit != Inconclusive:
		case unfit != "":
			why = append(why, name+" "+unfit)
		case run.OpenLoop != nil && !run.OpenLoop.KeptUp:
			why = append(why, name+" was not offered the load that was asked for")
		case len(untested) > 0:
			why = append(why, name+" met too little of "+list(untested))
		case t.result.open(i): // told with the threshold
		default:
			why = append(why, name+" showed too little")
		}
	}
	if len(t.result.NotRun) > 0 {
		why = append(why, plural(int64(len(t.result.NotRun)), t.unit)+" not run")
	}
	why = append(why, t.undecided()...)
	if len(why) == 0 {
		return "nothing was run"
	}
	return strings.Join(why, "; ")
}
