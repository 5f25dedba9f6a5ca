package locktest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
)

// found merges the findings of all records on each cell, and keeps the records of failures.
func (r *trial) found() Trial {
	t := Trial{Seed: r.settings.seed, TTL: r.settings.ttl, Declared: r.settings.declared()}
	for _, cell := range r.cells() {
		c := Case{CellFinding: checker.CellFinding{Cell: cell}}
		r.find(&c)
		t.Cases = append(t.Cases, c)
	}
	r.tidy(t)
	return t
}

// cells returns the cells of the cases.
func (r *trial) cells() (all []lockbench.Cell) {
	for _, p := range testCases {
		all = append(all, p.cell)
	}
	for _, sh := range r.runs {
		for _, f := range sh.result.Findings {
			if f.Verdict == checker.Broken {
				all = append(all, f.Cell)
			}
		}
	}
	return sorted(append(all, unmet(all)...))
}

// unmet returns the guarantees that occur in none of these cells, under no condition, and exclusion
// under each condition that occurs in none.
func unmet(cells []lockbench.Cell) (all []lockbench.Cell) {
	var met lockbench.Conditions
	kept := map[lockbench.Guarantee]bool{}
	for _, cell := range cells {
		met |= cell.Under
		kept[cell.Guarantee] = true
	}
	for _, i := range lockbench.Guarantees() {
		if !kept[i.Name] {
			all = append(all, i.Name.At(0))
		}
	}
	for _, i := range lockbench.AllConditions() {
		if !met.Has(i.Condition) {
			all = append(all, lockbench.Exclusion.At(i.Condition))
		}
	}
	return all
}

// sorted returns the cells in order, each once.
func sorted(cells []lockbench.Cell) []lockbench.Cell {
	slices.SortFunc(cells, lockbench.Cell.Compare)
	return slices.Compact(cells)
}

// find fills in a case with the worst finding of any record.
func (r *trial) find(c *Case) {
	cell, own := c.Cell, r.about(c.Cell)
	for _, sh := range r.runs {
		f := sh.result.Cells().Touched(cell)
		if sh.test.cell != cell && f.Verdict != checker.Broken {
			continue // a test case counts only for its own subject, unless it breaks another cell
		}
		if c.History == "" || f.Verdict.Graver(c.Verdict) {
			c.Finding, c.History = f, sh.file()
			if sh.test.cell == cell && sh.left != "" {
				c.Note = strings.TrimPrefix(c.Note+"; "+sh.left, "; ")
			}
		}
	}
	c.Claimed = r.claims.Claims(cell)
	c.Skipped = r.skipped(c)
	c.Err = r.judge(c, own)
}

// about returns the runs of the test cases for cell.
func (r *trial) about(cell lockbench.Cell) []*caseRun {
	return slices.DeleteFunc(slices.Clone(r.runs), func(sh *caseRun) bool { return sh.test.cell != cell })
}

// skipped says why c was not tested, empty if it was.
func (r *trial) skipped(c *Case) string {
	if why := r.idle(c); why != "" || c.History != "" {
		return why
	}
	if why := r.abilities.lacks(c.Cell); why != "" {
		return why
	}
	for _, p := range testCases {
		if p.cell == c.Cell {
			return r.unfit(p)
		}
	}
	return "it takes faults that no test can do to a service of others; hint: Explore has them, for locks on Redis"
}

// idle says why no key was free while the lock waited for it; empty if one was, or if c is another
// cell.
func (r *trial) idle(c *Case) string {
	if c.Cell != awakened || c.Verdict != checker.Untested {
		return ""
	}
	for _, sh := range r.about(c.Cell) {
		if why := sh.notes.idle(); why != "" {
			return why
		}
	}
	return ""
}

// judge returns the error of c, nil if it does not fail.
func (r *trial) judge(c *Case, own []*caseRun) error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: "+format, append([]any{c.Cell}, args...)...))
	}
	for _, sh := range own {
		for _, err := range sh.notes.wrong {
			wrong("%w", err)
		}
		for _, d := range sh.result.Defects {
			wrong("lockbench contradicts itself, so that nothing is proven: %s", d)
		}
	}
	switch {
	case c.Cell == abandoned && c.Claimed && r.undying():
		wrong("%w, %s; hint: have Close end what the lock does in the background, as the end of its process would", ErrUntested, c.Skipped)
	case c.Against > 0:
		wrong("%s", c.page())
	case c.Claimed && r.starved != "" && c.Skipped == r.starved:
		wrong("%w, %s; hint: WithRenewal, if it does, or leases that are longer than this machine is slow, WithTTL or %s", ErrUntested, r.starved, ttlVariable)
	case c.Claimed && len(r.settings.waiting) > 0 && strings.HasPrefix(c.Skipped, waitless):
		wrong("the lock is declared to wait: %s; but %s; hint: leave WithWaking and WithPolling away, or have Acquire wait for Options.Wait",
			strings.Join(r.settings.waiting, ", "), c.Skipped)
	case len(errs) == 0 && c.Claimed && c.Skipped == "":
		for _, sh := range own {
			if f := sh.result.Cells().Touched(c.Cell); f.Verdict == checker.Untested {
				wrong("%w, %s%s; hint: a lease that is longer than this machine is slow, WithTTL or %s", ErrUntested, f.Note, sh.notes.troubles(), ttlVariable)
			}
		}
	}
	return errors.Join(errs...)
}

// troubles describes the calls that failed, empty for none.
func (n *notes) troubles() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.errors == 0 {
		return ""
	}
	return fmt.Sprintf("; %d calls failed, the first: %v", n.errors, n.first)
}

// text returns the finding in a line.
func (c *Case) text() string {
	if c.Skipped != "" {
		return c.Skipped
	}
	parts := []string{c.Verdict.String()}
	if c.Note != "" {
		parts = append(parts, c.Note)
	}
	switch {
	case c.Violations > 0:
		parts = append(parts, fmt.Sprintf("%d of %d occasions", c.Violations, max(c.Violations, c.Exposure)))
	case c.Verdict == checker.Held:
		parts = append(parts, fmt.Sprintf("exposed %d times", c.Exposure))
	}
	parts = append(parts, unclaimed(&c.Finding)...)
	return strings.Join(parts, "; ")
}

// unclaimed says why f does not fail the test: empty if it does.
func unclaimed(f *checker.Finding) []string {
	switch {
	case !f.Claimed:
		return []string{"not claimed"}
	case f.Violations > 0 && f.Against == 0:
		return []string{"a guarantee that is not claimed may be what was broken"}
	}
	return nil
}

// page returns the text with the evidence, and the command that judges the file again.
func (c *Case) page() string {
	var b strings.Builder
	b.WriteString(c.text())
	if c.Counterexample != nil {
		fmt.Fprintf(&b, "\n%s\n", c.Counterexample.Sentence)
		_ = reports.Timeline(&b, c.Counterexample) // a Builder never fails
	}
	return b.String()
}

// tidy removes histories that nobody asked for and that show no failure.
func (r *trial) tidy(t Trial) {
	if !r.own {
		return
	}
	for _, sh := range r.runs {
		file := sh.file()
		shows := func(c Case) bool { return c.History == file && (c.Err != nil || c.Verdict == checker.Broken) }
		if !slices.ContainsFunc(t.Cases, shows) {
			_ = os.Remove(file)
		}
	}
	for i := range t.Cases {
		if _, err := os.Stat(t.Cases[i].History); err != nil {
			t.Cases[i].History = ""
		}
	}
}
