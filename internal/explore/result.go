package explore

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/fault"
)

// A Result is the result of exploring one design in one scenario.
type Result struct {
	Design   string
	Coverage Coverage
	// Findings has the entries of [checker.Result.Findings] over all schedules: for each cell
	// the gravest verdict of any schedule, the exposure summed over schedules, and as
	// violations the number of schedules that broke it.
	Findings []checker.CellFinding
	// Counterexamples has a shrunk schedule for each broken cell, except for cells that another
	// explains, see [checker.Explains]. A schedule may lose conditions when it is shrunk; then the
	// remaining cell is here, and in Findings.
	Counterexamples map[lockbench.Cell]Counterexample
	// Grants counts over all schedules.
	Grants int64
	// Defects are lockbench's own contradictions: judges that disagree, or the schedule of a
	// file that did not replay. A result with defects proves nothing.
	Defects []string
	// Elapsed is real time, and the only field that differs between two runs of one seed
	// without a time budget.
	Elapsed time.Duration
}

// Coverage describes the explored schedules.
type Coverage struct {
	Strategy Strategy // Exhaustive, Random or PCT: the strategy that chose the schedules
	Scenario string
	Clients, Threads, Rounds,
	Faults, Moves int
	Kinds []fault.Kind
	// Schedules were run and judged; Pruned are branches left out because they are equal to a
	// judged one.
	Schedules, Pruned int64
	// Diverged counts schedules that went another way when run again, because no seed decides
	// all of the lock's behaviour. They are dropped with their violations.
	Diverged int64
	// Lacks are commands that the lock sent and that the server of an exploration does not
	// know, such as "CLIENT TRACKING": effects of their errors prove nothing about the lock.
	Lacks []string
	// Complete means that every schedule of the scope was run or is equal to a schedule that was
	// run.
	Complete bool
	// Stopped is the reason of another end: "budget", "schedules" or "interrupted"; "clock" at
	// the end of virtual time, "steps" when a schedule would not end, "leak" when a call did
	// not return, "divergence" when a schedule went another way the second time, "replay" for a
	// schedule from a file.
	Stopped string
}

// A Counterexample is a failing schedule, shrunk.
type Counterexample struct {
	// The cell with its verdict: Broken or, of a replay file, the verdict found.
	checker.CellFinding
	// Sentence describes the violation in one line.
	Sentence string
	// Replay is the file that runs the schedule again.
	Replay Replay
	// Rows are the steps, for a table.
	Rows []Row
	// Against lists the cells that the schedule breaks and that count against the claims.
	Against []lockbench.Cell
	// FoundAt is the number of the first schedule that showed it, from 1.
	FoundAt int64
	// FoundAfter is the real time until then.
	FoundAfter time.Duration
}

// A Row is one step of a schedule.
type Row struct {
	At      time.Duration // virtual time since the start
	Client  string        // "c1", "c2" ... "server", "time"; with threads "p1.c2"
	Command string        // as the server got it, random values as token#1, token#2 ...
	Reply   string
	Fault   string
	// Holders are the clients that believe they hold a key after the step.
	Holders []string
}

// Progress is reported now and then while exploring, and while making counterexamples shorter.
type Progress struct {
	Schedules int64
	Broken    []lockbench.Cell // violated claims, in the order of Cell.Compare
	Elapsed   time.Duration
}

// Sentence describes the coverage: "exhaustive: 2 clients, 2 rounds, 1 fault, 2 time moves: all
// 11,110 schedules".
func (c Coverage) Sentence() string {
	scope := fmt.Sprintf("%s: %s, %s, %s, %s", c.Strategy,
		counted(c.Clients, "client"), counted(c.Rounds, "round"), counted(c.Faults, "fault"), counted(c.Moves, "time move"))
	text := fmt.Sprintf("%s: %s of an unknown number", scope, counted(c.Schedules, "schedule"))
	if c.Complete {
		text = fmt.Sprintf("%s: all %s", scope, counted(c.Schedules, "schedule"))
	}
	if c.Diverged > 0 {
		text += fmt.Sprintf("; %s went another way when run again, and were dropped", counted(c.Diverged, "schedule"))
	}
	if len(c.Lacks) > 0 {
		text += "; the server has no " + strings.Join(c.Lacks, ", ")
	}
	return text
}

// counted is "1 fault", "2 faults", "11,110 schedules".
func counted[N int | int64](n N, what string) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n == 1 {
		return digits + " " + what
	}
	return digits + " " + what + "s"
}
