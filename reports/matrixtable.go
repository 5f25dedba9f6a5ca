package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// heads are the names of guarantees over the columns of a matrix, which has one for
// each that is judged.
var heads = map[lockbench.Guarantee]string{
	lockbench.Exclusion: "exc", lockbench.Overrun: "ovr", lockbench.OwnerRelease: "own",
	lockbench.NoEarlyExpiry: "ear", lockbench.Recovery: "rec", lockbench.LossReported: "los",
	lockbench.Extend: "ext", lockbench.Reentrancy: "ree", lockbench.Fencing: "fen",
	lockbench.Effects: "eff", lockbench.NoSpuriousRefusal: "ref", lockbench.Cancel: "can",
	lockbench.LostReply: "rep", lockbench.Skew: "skw", lockbench.ScriptFlush: "scr",
	lockbench.Restart: "res", lockbench.Failover: "fai", lockbench.ReleaseDelay: "del",
}

// Judgeable are the guarantees of a matrix, in the order of reports.
func Judgeable() []lockbench.Guarantee {
	var all []lockbench.Guarantee
	for _, info := range lockbench.Guarantees() {
		if heads[info.Name] != "" {
			all = append(all, info.Name)
		}
	}
	return all
}

// The marks of a matrix, one character each.
const (
	markHeld     = "✓"
	markBroken   = "✗"
	markHazard   = "~"
	markUntested = "?"
	markNone     = "-"
	markUnmet    = "·"
	markClaimed  = "*"
	markLimited  = "°"
)

// markLegend says what the marks mean.
var markLegend = []string{
	markHeld + " held", markBroken + " broken", markHazard + " hazard, the documented limit of leases",
	markUntested + " met too little to say", markUnmet + " not exercised", markNone + " not for this design",
	markClaimed + " claimed: broken fails the matrix", markLimited + " claimed, but not under the faults that broke it",
}

// mark renders a cell: what was found, and whether it is claimed. It returns how to
// colour it, too.
func mark(c Cell) (string, func(palette, string) string) {
	text, paint := markUnmet, palette.dim
	switch {
	case c.Verdict == checker.Held:
		text, paint = markHeld, palette.good
	case c.Verdict == checker.Broken && c.Claimed:
		text, paint = markBroken, palette.bad
	case c.Verdict == checker.Broken:
		text, paint = markBroken, palette.warn
	case c.Verdict == checker.Hazard:
		text, paint = markHazard, palette.warn
	case c.Verdict == checker.NotApplicable:
		text = markNone
	case c.Exercised:
		text, paint = markUntested, palette.warn
	}
	switch {
	case c.Claimed:
		text += markClaimed
	case c.Limited:
		text += markLimited
	}
	return text, paint
}

// TerminalMatrix writes a matrix for people: a table of designs and guarantees that
// fits into a hundred columns, what it is made from, and the outcome in one sentence. It returns
// the first error of w.
func TerminalMatrix(w io.Writer, m Matrix, opt TerminalOptions) error {
	t := matrixText{page: newPage(w, opt), m: &m}
	t.thresholds()
	t.table()
	t.legend()
	t.made()
	t.outcome()
	return t.Flush()
}

// matrixText is a matrix being written.
type matrixText struct {
	page
	m *Matrix
}

func (t *matrixText) thresholds() {
	shown := t.m.thresholdsOf()
	shown.page = t.page
	shown.thresholds()
}

func (t *matrixText) table() {
	width := len("design")
	for i := range t.m.Rows {
		width = max(width, len(t.m.Rows[i].Design))
	}
	head := fmt.Sprintf("%-*s", width, "design")
	for _, g := range Judgeable() {
		head += " " + heads[g]
	}
	t.printf("%s\n%s\n", head, strings.Repeat("─", len(head)))
	for i := range t.m.Rows {
		line, gap := t.m.Rows[i].Design, width-len(t.m.Rows[i].Design)
		for _, g := range Judgeable() {
			text, paint := mark(t.m.Rows[i].Cells[g])
			line += strings.Repeat(" ", gap+1) + paint(t.palette, text)
			gap = len("exc") - utf8.RuneCountInString(text)
		}
		t.printf("%s\n", line)
	}
}

func (t *matrixText) legend() {
	t.printf("\n")
	for _, line := range append(wrapped(columnLegend(), ",", 96), wrapped(markLegend, ";", 96)...) {
		t.printf("%s\n", t.dim(line))
	}
}

// columnLegend says what the heads stand for.
func columnLegend() []string {
	var all []string
	for _, g := range Judgeable() {
		all = append(all, heads[g]+" "+string(g))
	}
	return all
}

// wrapped puts parts on lines of so many characters at most.
func wrapped(parts []string, separator string, width int) []string {
	lines := []string{""}
	for i, p := range parts {
		if i < len(parts)-1 {
			p += separator
		}
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = p
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(p) > width:
			lines = append(lines, p)
		default:
			*last += " " + p
		}
	}
	return lines
}

// made says what the matrix was made from, and what is missing of it.
func (t *matrixText) made() {
	t.printf("\n")
	for _, line := range t.m.MadeFrom() {
		t.printf("%s\n", line)
	}
	for _, note := range t.m.Notes {
		t.printf("note: %s\n", note)
	}
	for i := range t.m.Rows {
		r := &t.m.Rows[i]
		for _, o := range r.Without {
			t.printf("note: %s: no %s: %s\n", r.Design, o.Part, o.Why)
		}
		for _, p := range r.Parts {
			if p.Error != "" {
				t.printf("%s: %s, %s: %s\n", t.bad("error"), r.Design, p.Name, p.Error)
			}
			for _, d := range p.Defects {
				t.printf("%s: %s, %s: %s\n", t.bad("a defect of lockbench"), r.Design, p.Name, d)
			}
		}
	}
}

// MadeFrom says in one line per part what was done.
func (m *Matrix) MadeFrom() []string {
	var lines []string
	for _, part := range m.Settings.Parts {
		var designs, schedules, grants int64
		for i := range m.Rows {
			p := m.Rows[i].Part(part)
			if p == nil {
				continue
			}
			designs++
			grants += p.Grants
			for _, c := range p.Covered {
				schedules += c.Schedules
			}
		}
		what := plural(grants, "grant")
		if schedules > 0 {
			what = plural(schedules, "schedule") + ", " + what
		}
		lines = append(lines, fmt.Sprintf("%s: %s of %s; %s", part, what, plural(designs, "design"), m.selfChecked(part)))
	}
	return lines
}

// selfChecked says whether the lock that is broken on purpose was caught in a part.
func (m *Matrix) selfChecked(part string) string {
	p := m.SelfCheck.Part(part)
	switch {
	case p == nil:
		return "not checked by a lock broken on purpose"
	case m.SelfCheck.caught(part):
		return fmt.Sprintf("a lock broken on purpose was caught (%s)", p.MustBreak)
	}
	return fmt.Sprintf("a lock broken on purpose was NOT caught: %s", m.uncaught(p))
}

// uncaught says why the lock that is broken on purpose was not caught in p, and what
// to do about it.
func (m *Matrix) uncaught(p *MatrixPart) string {
	var overruns int64
	for _, e := range m.SelfCheck.Cells[lockbench.Overrun].Evidence {
		if e.Part == p.Name {
			overruns = e.Exposure
		}
	}
	remedy := "raise --budget"
	if m.Settings.Schedules > 0 && len(p.Covered) > 0 {
		remedy = "raise --schedules"
	}
	return fmt.Sprintf("%s met %s, and %s was not broken: %s", plural(p.Grants, "grant"), plural(overruns, "overrun"), p.MustBreak, remedy)
}

// outcome says in one sentence what the exit code means.
func (t *matrixText) outcome() {
	paint := map[int]func(string) string{Passed: t.good, BrokenClaim: t.bad, FailedThreshold: t.bad}[t.m.Exit]
	if paint == nil {
		paint = t.warn
	}
	headline, why := t.m.Outcome()
	t.printf("\n%s: %s (exit %d)\n", paint(headline), why, t.m.Exit)
}

// Outcome says what the exit code of m means, in a few words, and why.
func (m *Matrix) Outcome() (headline, why string) {
	var claimed []string
	var unclaimed int64
	for i := range m.Rows {
		r := &m.Rows[i]
		if names := r.with(func(c Cell) bool { return c.Verdict == checker.Broken && c.Claimed }); len(names) > 0 {
			claimed = append(claimed, r.Design+" broke "+list(names))
		} else if len(r.with(func(c Cell) bool { return c.Verdict == checker.Broken })) > 0 {
			unclaimed++
		}
	}
	switch m.Exit {
	case Passed:
		headline, why = "No claim was broken", heldClaims(slices.ContainsFunc(m.Rows, (MatrixRow).keepsClaims))
	case BrokenClaim:
		headline, why = "Claims were broken", strings.Join(claimed, "; ")+m.failedToo()
	case FailedThreshold:
		headline, why = "Thresholds failed", strings.Join(m.thresholdsOf().failures(), "; ")
	default:
		headline, why = "Inconclusive", strings.Join(m.reasons(), "; ")+m.failedToo()
	}
	if unclaimed > 0 {
		why += "; broken only where nothing was claimed: " + plural(unclaimed, "design")
	}
	return headline, why
}

// keepsClaims tells whether a claim of the design was put to the test and held.
func (r MatrixRow) keepsClaims() bool {
	return len(r.with(func(c Cell) bool { return c.Verdict == checker.Held && c.Claimed })) > 0
}

// with lists the guarantees whose cells match.
func (r *MatrixRow) with(match func(Cell) bool) []lockbench.Guarantee {
	return slices.DeleteFunc(Judgeable(), func(g lockbench.Guarantee) bool { return !match(r.Cells[g]) })
}

// reasons says why the matrix is inconclusive.
func (m *Matrix) reasons() []string {
	var why []string
	for _, part := range m.Unproven() {
		why = append(why, fmt.Sprintf("%s: a lock broken on purpose was not caught, so that what held counts as untested: %s",
			part, m.uncaught(m.SelfCheck.Part(part))))
	}
	if n := len(m.NotRun); n > 0 {
		why = append(why, fmt.Sprintf("%s not run, such as %s", plural(int64(n), "part"), m.NotRun[0]))
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		if r.exit() != Inconclusive {
			continue
		}
		untested := r.with(func(c Cell) bool { return c.Claimed && c.Exercised && c.Verdict == checker.Untested })
		if len(untested) > 0 && len(m.Unproven()) == 0 {
			why = append(why, r.Design+" met too little of "+list(untested))
		}
		for _, p := range r.Parts {
			switch {
			case p.Error != "" || len(p.Defects) > 0:
				why = append(why, r.Design+" met an error in "+p.Name)
			case p.failed():
				why = append(why, r.Design+" was never granted a lock in "+p.Name)
			}
		}
	}
	if why = append(why, m.thresholdsOf().undecided()...); len(why) == 0 {
		return []string{"nothing was run"}
	}
	return why
}
