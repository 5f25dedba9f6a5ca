package locktest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/reports"
)

// found merges the findings of all records on each cell, and keeps the records of failures.
func (r *trial) found() Result {
	all := Result{
		Cells: checker.Cells{}, Unit: Occasions, Tests: map[lockbench.Cell]Test{},
		Seed: r.settings.seed, TTL: r.settings.ttl, Notes: r.settings.declared(),
	}
	for _, sh := range r.runs {
		for _, d := range sh.result.Defects {
			all.Defects = append(all.Defects, sh.test.name+": "+d)
		}
	}
	for _, cell := range r.cells() {
		f, test := r.find(cell)
		test.Skipped = r.skipped(cell, f.Verdict, test.History != "")
		all.Cells[cell], all.Tests[cell] = f, test
	}
	all.findCauses()
	all.accept(r.settings.accepted, time.Now())
	excused := !r.settings.required && slices.ContainsFunc(all.Cells.List(), tested)
	for cell, test := range all.Tests {
		if excused && test.Skipped == "" {
			test.Skipped = r.prevented(cell, all.Cells[cell])
			test.starved = test.Skipped != ""
		}
		test.starved = test.starved || r.starved != "" && test.Skipped == r.starved
		if len(r.complaints(cell, excused)) > 0 { // more than the breach is wrong
			test.Cause = lockbench.Cell{}
		}
		all.Tests[cell] = test
		test.Err = r.judge(&all, cell, excused)
		all.Tests[cell] = test
	}
	r.tidy(&all)
	return all
}

// tested reports whether f is a claim that met an occasion.
func tested(f checker.CellFinding) bool {
	return f.Claimed && (f.Verdict == checker.Held || f.Verdict == checker.Broken)
}

// prevented says that the machine or the server prevented the test of a claim, empty if not.
func (r *trial) prevented(cell lockbench.Cell, f checker.Finding) string {
	if !f.Claimed || f.Verdict == checker.Broken {
		return ""
	}
	for _, sh := range r.about(cell) {
		for _, err := range sh.notes.wrong {
			if errors.Is(err, ErrUntested) {
				return err.Error()
			}
		}
	}
	why := ""
	for _, sh := range r.about(cell) {
		its := sh.result.Cells().Touched(cell)
		switch {
		case its.Verdict != checker.Untested:
		case !r.hindered(sh.stood):
			return ""
		default:
			why = fmt.Sprintf("untested, %s%s; the machine or the server stood still for %v in this test; hint: longer leases, WithTTL or %s",
				its.Note, sh.notes.troubles(), r.stood().Round(time.Millisecond), ttlVariable)
		}
	}
	return why
}

// hindered reports whether standstills may be the reason for what a part of the test did not show:
// those in the part itself, or those of a lease and more in the whole test. A machine that is so busy
// slows calls down even where no standstill is seen.
func (r *trial) hindered(within time.Duration) bool { return within > 0 || r.stood() >= r.settings.ttl }

// stood returns how long the machine or the server stood still in the whole test.
func (r *trial) stood() time.Duration {
	sum := r.looksStood
	for _, sh := range r.runs {
		sum += sh.stood
	}
	return sum
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

// find returns the gravest finding of any record on cell, and its test so far.
func (r *trial) find(cell lockbench.Cell) (f checker.Finding, test Test) {
	for _, sh := range r.runs {
		its := sh.result.Cells().Touched(cell)
		if sh.test.cell != cell && its.Verdict != checker.Broken {
			continue // a test case counts only for its own subject, unless it breaks another cell
		}
		if test.History == "" || its.Verdict.Graver(f.Verdict) {
			f, test.Source, test.History, test.against = its, sh.test.name, sh.file(), sh.result.Cells().Against()
			if sh.test.cell == cell && sh.left != "" {
				f.Note = strings.TrimPrefix(f.Note+"; "+sh.left, "; ")
			}
		}
	}
	f.Claimed = r.claims.Claims(cell)
	return f, test
}

// about returns the runs of the test cases for cell.
func (r *trial) about(cell lockbench.Cell) []*caseRun {
	return slices.DeleteFunc(slices.Clone(r.runs), func(sh *caseRun) bool { return sh.test.cell != cell })
}

// skipped says why cell was not tested, empty if it was; recorded means that there is a record of it.
func (r *trial) skipped(cell lockbench.Cell, v checker.Verdict, recorded bool) string {
	if why := r.idle(cell, v); why != "" || recorded {
		return why
	}
	if why := r.abilities.lacks(cell); why != "" {
		return why
	}
	for _, p := range testCases {
		if p.cell == cell {
			return r.skipReason(p)
		}
	}
	return "it takes faults that no test can do to a service of others; hint: Explore has them, for locks on Redis"
}

// idle says why no key was free while the lock waited for it; empty if one was, or if cell is
// another one.
func (r *trial) idle(cell lockbench.Cell, v checker.Verdict) string {
	if cell != awakened || v != checker.Untested {
		return ""
	}
	for _, sh := range r.about(cell) {
		if why := sh.notes.idle(); why != "" {
			return why
		}
	}
	return ""
}

// judge returns the error of cell, nil if its test does not fail. A test that the machine prevented
// is excused if excused is set.
func (r *trial) judge(all *Result, cell lockbench.Cell, excused bool) error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: "+format, append([]any{cell}, args...)...))
	}
	own, f, skipped := r.about(cell), all.Cells[cell], all.Tests[cell].Skipped
	for _, err := range r.complaints(cell, excused) {
		wrong("%w", err)
	}
	unknown := excused && r.hindered(r.looksStood) && !r.hung // whether the lock renews
	switch {
	case cell == abandoned && f.Claimed && r.undying() && !unknown:
		wrong("%w, %s; hint: have Close end what the lock does in the background, as the end of its process would", ErrUntested, skipped)
	case f.Against > 0 && all.Tests[cell].Accepted != nil:
	case f.Against > 0:
		wrong("%s%s", all.text(cell), operations(f.Counterexample))
	case f.Claimed && r.starved != "" && skipped == r.starved && !unknown:
		wrong("%w, %s; hint: WithRenewal, if it does, or leases that are longer than this machine is slow, WithTTL or %s", ErrUntested, r.starved, ttlVariable)
	case f.Claimed && len(r.settings.waiting) > 0 && strings.HasPrefix(skipped, waitless):
		wrong("the lock is declared to wait: %s; but %s; hint: leave WithWaking and WithPolling away, or have Acquire wait for Options.Wait",
			strings.Join(r.settings.waiting, ", "), skipped)
	case len(errs) == 0 && f.Claimed && skipped == "":
		for _, sh := range own {
			if f := sh.result.Cells().Touched(cell); f.Verdict == checker.Untested {
				wrong("%w, %s%s; hint: a lease that is longer than this machine is slow, WithTTL or %s", ErrUntested, f.Note, sh.notes.troubles(), ttlVariable)
			}
		}
	}
	return errors.Join(errs...)
}

// complaints returns what went wrong in the test cases for cell, whatever their records show, such as
// a call that panicked. See judge for excused.
func (r *trial) complaints(cell lockbench.Cell, excused bool) (all []error) {
	for _, sh := range r.about(cell) {
		for _, err := range sh.notes.wrong {
			if !excused || !errors.Is(err, ErrUntested) {
				all = append(all, err)
			}
		}
	}
	return all
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

// operations draws a violation, empty for none.
func operations(of *checker.Counterexample) string {
	if of == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", of.Sentence)
	_ = reports.Timeline(&b, of) // a Builder never fails
	return b.String()
}

// tidy removes histories that nobody asked for and that show no failure.
func (r *trial) tidy(all *Result) {
	if !r.own {
		return
	}
	shown := map[string]bool{}
	for cell, test := range all.Tests {
		if test.Err != nil || all.Cells[cell].Verdict == checker.Broken {
			shown[test.History] = true
		}
	}
	for _, sh := range r.runs {
		if !shown[sh.file()] {
			_ = os.Remove(sh.file())
		}
	}
	for cell, test := range all.Tests {
		if !shown[test.History] {
			test.History = ""
			all.Tests[cell] = test
		}
	}
}
