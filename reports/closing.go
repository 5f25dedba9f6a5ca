package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// hazards writes one line per hazard: the documented limit of leases, met.
func (t *terminal) hazards() {
	t.each("hazards, the documented limit of leases: work went on past validity", func(g Guarantee) bool {
		return g.Verdict == checker.Hazard
	})
}

// open writes the claims that could have been exercised and were not enough.
func (t *terminal) open() {
	t.each("open, claims that met too little to say", func(g Guarantee) bool {
		return g.Verdict == checker.Untested && g.Claimed && g.Exercised
	})
}

// each writes one line per run and guarantee that matches, by guarantee, under a
// heading.
func (t *terminal) each(heading string, match func(Guarantee) bool) {
	for _, g := range lockbench.Guarantees() {
		runs := t.runsWith(g.Name, match)
		if len(runs) == 0 {
			continue
		}
		if heading != "" {
			t.printf("\n%s\n", t.bold(heading))
			heading = ""
		}
		t.guarantee(g.Name, runs)
	}
}

// runsWith lists the runs whose verdict on the guarantee of that name matches.
func (t *terminal) runsWith(name lockbench.Guarantee, match func(Guarantee) bool) []*Run {
	var runs []*Run
	for i := range t.result.Runs {
		run := &t.result.Runs[i]
		if g, judged := run.Guarantees[name]; judged && match(g) {
			runs = append(runs, run)
		}
	}
	return runs
}

// guarantee writes what runs have to say of one guarantee; a note that all of
// them share stands before them, once.
func (t *terminal) guarantee(name lockbench.Guarantee, runs []*Run) {
	shared, width := runs[0].Guarantees[name].Note, 0
	for _, run := range runs {
		width = max(width, len(t.label.of(run)))
		if run.Guarantees[name].Note != shared {
			shared = ""
		}
	}
	heading := string(name)
	if shared != "" {
		heading += ": " + shared
	}
	t.printf("  %s\n", heading)
	for _, run := range runs {
		g := run.Guarantees[name]
		if shared != "" {
			g.Note = ""
		}
		t.printf("    %s\n", strings.TrimRight(fmt.Sprintf("%-*s  %s", width, t.label.of(run), detail(g)), " "))
	}
}

// notExercised names the claims that this workload cannot put to the test.
func (t *terminal) notExercised() {
	var lines []string
	for _, g := range lockbench.Guarantees() {
		claiming := t.runsWith(g.Name, func(g Guarantee) bool { return g.Claimed })
		var designs []string
		for _, run := range claiming {
			if found := run.Guarantees[g.Name]; !found.Exercised && !found.Verdict.Graver(checker.Untested) {
				designs = append(designs, t.label.of(run))
			}
		}
		if len(designs) > 0 {
			lines = append(lines, fmt.Sprintf("  %-19s  %s", g.Name, who(designs, len(claiming))))
		}
	}
	if len(lines) > 0 {
		t.printf("\n%s\n%s\n", t.bold("claimed, but not exercised by "+t.exercisedBy), strings.Join(lines, "\n"))
	}
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

// leftOpen is what success leaves open, and what was cut short, behind a semicolon.
func (t *terminal) leftOpen() (why string) {
	met := t.runsThat(func(r *Run) bool { return len(r.with(checker.Hazard)) > 0 })
	if met != "" && t.result.Exit == Passed {
		why += "; hazards, the documented limit of leases, were met by " + met
	}
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
		headline, why = "No claim was broken", heldClaims(slices.ContainsFunc(t.result.Runs, func(r Run) bool { return r.keepsClaims() }))
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

// keepsClaims tells whether a claim was put to the test and held.
func (r *Run) keepsClaims() bool {
	return len(r.names(func(g Guarantee) bool { return g.Claimed && g.Verdict == checker.Held })) > 0
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
		names := run.names(func(g Guarantee) bool { return g.Verdict == checker.Broken && g.Claimed })
		switch {
		case len(names) > 0:
			claimed = append(claimed, t.label.of(run)+" broke "+list(names))
		case len(run.with(checker.Broken)) > 0:
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
		untested := run.names(func(g Guarantee) bool {
			return g.Verdict == checker.Untested && g.Claimed && g.Exercised
		})
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
