package results

import (
	"maps"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/conclusion"
)

// A Finding is the verdict on one cell: a guarantee, and exactly the conditions that
// touched the occasions.
type Finding struct {
	Verdict   checker.Verdict `json:"verdict"`
	Claimed   bool            `json:"claimed"`
	Exercised bool            `json:"exercised"`
	Exposure  int64           `json:"exposure"`
	// Violations of an exploration are the schedules that broke it. Against are those that
	// count against the claims: one is enough to fail the run.
	Violations int64 `json:"violations"`
	Against    int64 `json:"against"`
	// Accepted: it counts against the claims and fails nothing, since somebody accepts it; nil where
	// nobody does.
	Accepted *AcceptedBreak `json:"accepted,omitempty"`
	// Questions are the violations by the question that they answer; nil when that is the
	// guarantee's own, see [checker.Asks].
	Questions      map[string]int64   `json:"questions,omitempty"`
	Note           string             `json:"note,omitempty"`
	Measures       map[string]float64 `json:"measures,omitempty"`
	Counterexample *Counterexample    `json:"counterexample,omitempty"`
	// Schedule is what shows it, where the design was explored.
	Schedule *Schedule `json:"schedule,omitempty"`

	// Scenarios are those with this verdict; the first has the schedule.
	Scenarios []string `json:"-"`
}

func newFinding(f *checker.Finding) Finding {
	out := Finding{
		Verdict: f.Verdict, Claimed: f.Claimed, Exercised: f.Exercised,
		Exposure: f.Exposure, Violations: f.Violations, Against: f.Against,
		Note: f.Note, Measures: f.Measures, Counterexample: NewCounterexample(f.Counterexample),
	}
	out.ask(f.Cell.Guarantee, f.Asked)
	return out
}

// ask sets the questions that the violations of g answer.
func (f *Finding) ask(g lockbench.Guarantee, asked [checker.Questions]int64) {
	f.Questions = nil
	if asked[checker.Asks(g)] == f.Violations {
		return
	}
	f.Questions = make(map[string]int64)
	for q, n := range asked {
		if n > 0 {
			f.Questions[checker.Question(q).String()] = n
		}
	}
}

// Asked are the violations of g by the question that they answer.
func (f *Finding) Asked(g lockbench.Guarantee) (all [checker.Questions]int64) {
	if f.Questions == nil {
		all[checker.Asks(g)] = f.Violations
		return all
	}
	for q := range checker.Questions {
		all[q] = f.Questions[q.String()]
	}
	return all
}

// finding is f as the checker has it, for metrics.
func (f *Finding) finding(cell lockbench.Cell) checker.Finding {
	return checker.Finding{
		Cell: cell, Verdict: f.Verdict, Claimed: f.Claimed, Exercised: f.Exercised,
		Exposure: f.Exposure, Violations: f.Violations, Against: f.Against, Asked: f.Asked(cell.Guarantee), Note: f.Note,
	}
}

// Cells are findings by cell: one for each guarantee where nothing goes wrong, one for each
// exact set of conditions that was met, and one for each cell that was exercised.
type Cells map[lockbench.Cell]Finding

// Sorted lists the cells in the order in which reports show them.
func (c Cells) Sorted() []lockbench.Cell {
	return slices.SortedFunc(maps.Keys(c), lockbench.Cell.Compare)
}

// Names lists the cells that match, in that order.
func (c Cells) Names(match func(lockbench.Cell, Finding) bool) (names []lockbench.Cell) {
	for _, cell := range c.Sorted() {
		if match(cell, c[cell]) {
			names = append(names, cell)
		}
	}
	return names
}

// with lists the cells of a verdict.
func (c Cells) with(v checker.Verdict) []lockbench.Cell {
	return c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Verdict == v })
}

// Broken lists the cells that were broken: those that count against a claim first.
func (c Cells) Broken() []lockbench.Cell {
	against := c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Fails() })
	return append(against, c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Verdict == checker.Broken && !f.Fails() })...)
}

// Root is the broken cell to start with: one that counts against the claims, if any does, else
// one that not every lease breaks, under the fewest conditions, by the shortest schedule. It
// returns false where none has a schedule.
func (c Cells) Root() (root lockbench.Cell, found bool) {
	for _, cell := range c.Broken() {
		f := c[cell]
		if f.Schedule == nil {
			continue
		}
		if !found || f.rootBefore(cell, c, root) {
			root, found = cell, true
		}
	}
	return root, found
}

func (f *Finding) rootBefore(cell lockbench.Cell, all Cells, root lockbench.Cell) bool {
	best := all[root]
	if f.Fails() != best.Fails() {
		return f.Fails()
	}
	if conclusion.Late(cell) != conclusion.Late(root) {
		return conclusion.Late(root)
	}
	if mine, others := cell.Under.Count(), root.Under.Count(); mine != others {
		return mine < others
	}
	return f.Schedule.shorter(best.Schedule)
}

// Open reports whether the cell is claimed, was to be put to the test, and met nothing of the
// kind.
func (c Cells) Open(cell lockbench.Cell) bool {
	f := c[cell]
	if !f.Claimed || !f.Exercised {
		return false
	}
	for other, f := range c {
		if other.Guarantee == cell.Guarantee && other.Under.Has(cell.Under) && f.Verdict.Graver(checker.Untested) {
			return false
		}
	}
	return true
}

// Untested lists the cells that are open.
func (c Cells) Untested() []lockbench.Cell {
	return c.Names(func(cell lockbench.Cell, _ Finding) bool { return c.Open(cell) })
}

// exit is the exit code of the verdicts, by the rules of [checker.Result].
func (c Cells) exit() int {
	for _, f := range c {
		if f.Fails() {
			return BrokenClaim
		}
	}
	if len(c.Untested()) > 0 {
		return Inconclusive
	}
	return Passed
}

// Fails reports whether what was found of the cell fails the run.
func (c Cells) Fails(cell lockbench.Cell) bool {
	f := c[cell]
	return f.Fails()
}

// shows reports whether a lock that must break this cell was caught, see [Catches].
func (c Cells) shows(must lockbench.Cell) bool {
	for cell, f := range c {
		if f.Verdict == checker.Broken && Catches(must, cell) {
			return true
		}
	}
	return false
}

// KeepsClaims reports whether a claim was put to the test and held.
func (c Cells) KeepsClaims() bool {
	return len(c.Names(func(_ lockbench.Cell, f Finding) bool { return f.Claimed && f.Verdict == checker.Held })) > 0
}

// Read is what is known of one cell: it is broken by what exactly its conditions touched,
// and held by all that they touched, whatever else did.
func (c Cells) Read(cell lockbench.Cell) Finding {
	f := c[cell]
	if f.Verdict == checker.Broken {
		return f
	}
	for other, more := range c {
		if other == cell || other.Guarantee != cell.Guarantee || !other.Under.Has(cell.Under) || more.Verdict != checker.Held {
			continue
		}
		f.Exposure += more.Exposure
		f.Verdict = checker.Held
	}
	return f
}

// comparableCells lists the cells of all that can be compared: what was broken, and what at most
// one condition touched. Which mixtures occur is chance.
func comparableCells(all ...Cells) []lockbench.Cell {
	some := make(Cells)
	for _, c := range all {
		for cell, f := range c {
			if cell.Under.Count() <= 1 || f.Verdict == checker.Broken {
				some[cell] = Finding{}
			}
		}
	}
	return some.Sorted()
}

// Reason says why a cell is not claimed: by the exception that says more, where there is one.
func Reason(c *lockbench.Claims, cell lockbench.Cell) string {
	why := c.Reason(cell)
	if e, given := c.Exception(cell.Guarantee, cell.Under, cell.Under); given && e.Why != "" && slices.Contains(c.Keeps, cell.Guarantee) {
		return e.Why
	}
	return why
}

// Fails reports whether what was found fails the run.
func (f *Finding) Fails() bool { return f.Against > 0 && f.Accepted == nil }

// Fairness is how evenly a lock was handed out.
type Fairness struct {
	// Jain is Jain's index over the clients' grants, zero without grants.
	Jain float64 `json:"jain"`
	// Waits counts acquires that waited, MaxWait is the longest.
	Waits   int64 `json:"waits"`
	MaxWait int64 `json:"max_wait_ns"`
	// MaxBypassed is the most grants to later callers during one wait.
	MaxBypassed int64 `json:"max_bypassed"`
}

func newFairness(f checker.Fairness) Fairness {
	return Fairness{Jain: f.Jain, Waits: f.Waits, MaxWait: int64(f.MaxWait), MaxBypassed: f.MaxBypassed}
}

// Shown reports whether there is something to draw. What another cell's schedule explains has
// a sentence only.
func (f *Finding) Shown() bool {
	return f.Verdict == checker.Broken && (f.Counterexample != nil && len(f.Counterexample.Ops) > 0 || f.Schedule != nil)
}
