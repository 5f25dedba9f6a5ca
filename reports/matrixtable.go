package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench"
)

// TerminalMatrix writes a matrix for people: a table of designs and conditions, what it
// is made from, and the outcome in one sentence. It returns
// the first error of w.
func TerminalMatrix(w io.Writer, m Matrix, opt TerminalOptions) error {
	t := matrixText{page: newPage(w, opt), m: &m}
	t.thresholds()
	table := t.m.Table()
	t.writeTable(&table, opt.Width)
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

// Table is a line for each design: the worst that was found under each condition.
func (m *Matrix) Table() Table {
	var all []designCells
	for i := range m.Rows {
		all = append(all, m.Rows[i].cells())
	}
	return designTable(all)
}

// GuaranteeTable is what was found of the design.
func (r *MatrixRow) GuaranteeTable() Table { return r.cells().table() }

// cells are those of a table: weak where they were not all explored.
func (r *MatrixRow) cells() designCells {
	explored := !slices.ContainsFunc(r.Parts, func(p MatrixPart) bool { return len(p.Covered) == 0 })
	return designCells{r.Findings(), r.Design, explored && len(r.Parts) > 0}
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
	for _, e := range m.SelfCheck.Cells[lockbench.Exclusion.At(lockbench.Outlived)].Evidence {
		if e.Part == p.Name {
			overruns = e.Exposure
		}
	}
	remedy := "raise --budget"
	if m.Settings.Schedules > 0 && len(p.Covered) > 0 {
		remedy = "raise --schedules"
	}
	return fmt.Sprintf("%s met %s, and %s was not broken: %s", plural(p.Grants, "grant"), outlasted(overruns), p.MustBreak, remedy)
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
		if names := r.Findings().names(func(_ lockbench.Cell, f Finding) bool { return f.fails() }); len(names) > 0 {
			claimed = append(claimed, r.Design+" broke "+list(names))
		} else if len(r.Findings().Broken()) > 0 {
			unclaimed++
		}
	}
	switch m.Exit {
	case Passed:
		headline, why = "No claim was broken", heldClaims(slices.ContainsFunc(m.Rows, func(r MatrixRow) bool { return r.Findings().keepsClaims() }))
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
		untested := r.Findings().untested()
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
