package locktest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
)

// A Result is the result of testing a lock, in real time ([Try]) or in virtual time ([Check]).
type Result struct {
	// Cells has the finding on each cell that was tested, each guarantee under no condition, and
	// exclusion under each condition that nothing tested. A cell under several conditions is only
	// there if it is broken. The verdict on a cell is the gravest of any test case, scenario or
	// schedule file.
	Cells checker.Cells
	// Unit is the unit of the violations of Cells.
	Unit Unit
	// Tests has the test of each cell of Cells.
	Tests map[lockbench.Cell]Test
	// Seed and TTL are the seed and the lease of the test.
	Seed uint64
	TTL  time.Duration
	// Notes has one line for each declaration about the lock in the options of Try, and one for
	// each scenario and schedule file of Check: how many schedules it ran, and of what kind.
	Notes []string
	// Defects are lockbench's own contradictions, and what made an exploration useless: a lock that
	// panicked, or left goroutines behind. A Result with any proves nothing.
	Defects []string

	name    string // of the Go test, for the files of schedules
	lacking string // why violations prove nothing; empty if they do
}

// A Unit is the unit in which violations are counted. Violations of different units have no sum.
type Unit string

// The units.
const (
	Occasions Unit = "occasions" // of Try: each one is a violation
	Schedules Unit = "schedules" // of Check: all occasions of one schedule are one violation
)

// A Test is the test of one cell. [Run] and [Explore] report each as a subtest.
type Test struct {
	// Err says why the test fails, nil if it does not: the cell is claimed and was broken, or
	// stayed untested; or, in real time, a call of the lock did not return, or panicked.
	Err error
	// Skipped says why the cell was not tested, empty if it was.
	Skipped string
	// Cause is the cell to start with: the schedule or record that breaks this cell breaks Cause, too,
	// or Cause is the same guarantee under fewer conditions. It is zero unless both count against the
	// claims.
	Cause lockbench.Cell
	// Accepted is set if the cell is claimed, was broken, and a file of [WithAccepted] accepts that.
	Accepted *results.AcceptedBreak
	// Source is where the verdict comes from: the name of a test case or scenario, or the file of
	// a schedule.
	Source string
	// History is the file of the record that shows the verdict of Try, empty if the record was
	// not kept.
	History string
	// Replay is the text of a schedule that breaks the cell, which LOCKBENCH_REPLAY runs again
	// from a file. It is empty if the cell is not broken, if the schedule of the same guarantee
	// under fewer conditions breaks it, too, and in a Result of Try.
	Replay string

	starved  bool                    // Skipped is for lack of time or of schedules, and not of an ability
	against  []lockbench.Cell        // the cells that the schedule or record breaks against the claims
	schedule *explore.Counterexample // the schedule of Replay
	file     string                  // the file of schedule
}

// ErrUntested is wrapped by errors that prove nothing against the lock: it could not be tested, for
// instance on a machine that stands still. A test that measured nothing does not pass.
var ErrUntested = errors.New("untested")

// Err returns the errors that Run or Explore would fail with: of Defects, and of each test that
// fails. It is nil if there is none.
func (r Result) Err() error {
	errs := []error{r.contradiction()}
	for _, cell := range r.ordered() {
		errs = append(errs, r.Tests[cell].Err)
	}
	return errors.Join(errs...)
}

// contradiction returns an error if Defects make r worthless.
func (r *Result) contradiction() error {
	if len(r.Defects) == 0 {
		return nil
	}
	return fmt.Errorf("nothing here is to be relied on: %s", strings.Join(r.Defects, "; "))
}

// String describes the extent of the test, with the notes.
func (r Result) String() string {
	if r.Unit == Schedules {
		return strings.Join(append([]string{fmt.Sprintf("explored with seed %d", r.Seed)}, r.Notes...), "\n  ")
	}
	text := fmt.Sprintf("tested in real time, with leases of %v and seed %d", r.TTL, r.Seed)
	if len(r.Notes) > 0 {
		text += "; declared: " + strings.Join(r.Notes, ", ")
	}
	return text
}

// ordered lists the cells: the causes first, in the order in which to look at them.
func (r *Result) ordered() []lockbench.Cell {
	causes := r.causes()
	others := slices.DeleteFunc(r.Cells.Sorted(), func(cell lockbench.Cell) bool { return slices.Contains(causes, cell) })
	return append(causes, others...)
}

// causes lists the cells that count against the claims and have no cause among the others, in the
// order of [checker.Cells.First].
func (r *Result) causes() (all []lockbench.Cell) {
	left := maps.Clone(r.Cells)
	maps.DeleteFunc(left, func(cell lockbench.Cell, f checker.Finding) bool {
		return f.Against == 0 || r.Tests[cell].Cause != lockbench.Cell{}
	})
	for len(left) > 0 {
		first, _ := left.First(func(lockbench.Cell) bool { return true }, func(cell lockbench.Cell) int { return r.Tests[cell].steps() })
		delete(left, first)
		all = append(all, first)
	}
	return all
}

// findCauses sets the Cause of each test.
func (r *Result) findCauses() {
	all := r.causes()
	for i, cell := range all {
		test, f := r.Tests[cell], r.Cells[cell]
		for _, before := range all[:i] {
			g := r.Cells[before]
			if slices.Contains(test.against, before) || checker.Explains(before, cell, &g, &f) {
				test.Cause = before
				if of := r.Tests[before].Cause; of != (lockbench.Cell{}) {
					test.Cause = of
				}
				break
			}
		}
		r.Tests[cell] = test
	}
}

// line returns the finding on cell in a line.
func (r *Result) line(cell lockbench.Cell) string {
	f, test := r.Cells[cell], r.Tests[cell]
	if test.Skipped != "" {
		return test.Skipped
	}
	parts := []string{f.Verdict.String()}
	if r.lacking != "" && f.Violations > 0 {
		parts = append(parts, r.lacking)
	}
	if f.Note != "" {
		parts = append(parts, f.Note)
	}
	switch {
	case f.Violations > 0 && r.Unit == Schedules:
		parts = append(parts, fmt.Sprintf("shown by %d schedules", f.Violations))
	case f.Violations > 0:
		parts = append(parts, fmt.Sprintf("%d of %d occasions", f.Violations, max(f.Violations, f.Exposure)))
	case f.Verdict == checker.Held:
		parts = append(parts, fmt.Sprintf("exposed %d times", f.Exposure))
	}
	switch {
	case !f.Claimed:
		parts = append(parts, "not claimed")
	case f.Violations > 0 && f.Against == 0:
		parts = append(parts, "a guarantee that is not claimed may be what was broken")
	}
	if test.schedule != nil {
		parts = append(parts, "the shortest in "+test.Source)
	} else if by, ok := r.Cells.Explained(cell); ok && r.Unit == Schedules {
		parts = append(parts, "the schedule is that of "+by.String())
	}
	if test.Cause != (lockbench.Cell{}) {
		parts = append(parts, "start with "+test.Cause.String())
	}
	return strings.Join(parts, "; ")
}

// text returns the finding on cell in a line or, with a schedule, in a page.
func (r *Result) text(cell lockbench.Cell) string {
	test, text := r.Tests[cell], r.line(cell)
	switch causes := r.causes(); {
	case test.schedule == nil:
		return text
	case len(causes) > 0 && cell == causes[0]:
		text = "start here: " + text
	case test.Cause != lockbench.Cell{}:
		return fmt.Sprintf("%s\n%s%s\n%s", text, test.schedule.Sentence, sentAgain(cell, test.schedule.Rows), r.again(test.file))
	}
	return fmt.Sprintf("%s\n%s%s\n%s%s", text, test.schedule.Sentence, sentAgain(cell, test.schedule.Rows), table(test.schedule.Rows), r.again(test.file))
}

// repeated is the cell that a client library may break for a sound lock: it takes a lost reply for
// a command that was not sent, and sends the command again. The key that the first command set then
// refuses the second.
var repeated = lockbench.Answers.At(lockbench.LostReply)

// sentAgain says which client sent a command twice in one call because the reply was lost, and what
// ends that; empty for none. The first command of a call has the name of the call before it.
func sentAgain(cell lockbench.Cell, rows []explore.Row) string {
	for i, row := range rows {
		if row.Fault != string(fault.LostReply) {
			continue
		}
		_, command, named := strings.Cut(row.Command, ": ")
		if !named {
			command = row.Command
		}
		twice := func(later explore.Row) bool { return later.Client == row.Client && later.Command == command }
		if !slices.ContainsFunc(rows[i+1:], twice) {
			continue
		}
		text := fmt.Sprintf("\n%s sent this twice, as a client does by itself where the reply is lost: %s\nhint: MaxRetries: -1 ends that in go-redis, DisableRetry: true in rueidis", row.Client, command)
		if cell == repeated {
			text += fmt.Sprintf("; or accept it, as most libraries do: WithClaims(%q)", "-"+cell.String())
		}
		return text
	}
	return ""
}

// table draws a schedule, one row per step.
func table(rows []explore.Row) string {
	steps := make([]results.Step, len(rows))
	for i, row := range rows {
		steps[i] = results.Step{
			At: int64(row.At), Client: row.Client, Command: row.Command,
			Reply: row.Reply, Fault: row.Fault, Holders: row.Holders,
		}
	}
	var b strings.Builder
	_ = reports.Steps(&b, steps) // a Builder never fails
	return b.String()
}

// report fails t for Defects, runs a subtest for each cell that was tested or should have been, and logs
// the others with their reasons, and the summary.
func (r *Result) report(t *testing.T) {
	t.Helper()
	if err := r.contradiction(); err != nil {
		t.Error(err)
	}
	ran := map[lockbench.Cell]bool{} // -run may leave out the subtest of a cause
	for _, cell := range r.ordered() {
		if r.folded(cell) {
			continue
		}
		t.Run(cell.String(), func(t *testing.T) {
			t.Helper() // attributes failures to the line that calls Run or Explore
			ran[cell] = true
			cause := r.Tests[cell].Cause
			r.reportCell(t, cell, ran[cause] && r.Tests[cause].Err != nil)
		})
	}
	if others := r.notTried(); others != "" {
		t.Log(others)
	}
	t.Log(r.summary())
}

// reportCell ends the subtest of cell. A cell is skipped if its cause has failed already, so that
// one fault of a lock fails one subtest.
func (r *Result) reportCell(t *testing.T, cell lockbench.Cell, failed bool) {
	t.Helper()
	switch test := r.Tests[cell]; {
	case test.Err == nil && test.Accepted != nil:
		t.Skipf("%s\n%s", test.Accepted, r.text(cell))
	case test.Err != nil && failed:
		t.Skip(r.text(cell))
	case test.Err != nil:
		t.Error(r.failure(t, cell))
	case test.Skipped == "" && r.Cells[cell].Verdict == checker.Held:
		t.Log(r.text(cell))
	default:
		t.Skip(r.text(cell))
	}
}

// failure returns the error of cell with the next steps. It keeps the schedule of cell in a file.
func (r *Result) failure(t *testing.T, cell lockbench.Cell) string {
	t.Helper()
	test := r.Tests[cell]
	switch {
	case r.Unit == Occasions:
		return fmt.Sprintf("%v\nseed %d, leases of %v, history %s\njudge it again: lockbench check %[4]s", test.Err, r.Seed, r.TTL, test.History)
	case test.schedule == nil || test.file != "":
		return test.Err.Error()
	}
	file, err := r.keep(cell)
	if err != nil {
		t.Logf("the schedule is not kept: %v; as a file it is:\n%s", err, test.Replay)
	}
	return test.Err.Error() + r.again(file)
}
