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

// A Result is what exploring one design in one scenario found.
type Result struct {
	Design   string
	Coverage Coverage
	// Findings has the entries of [checker.Result.Findings] of all schedules: of each cell
	// the worst verdict of any schedule, the exposure summed over schedules, and as
	// violations the number of schedules that broke it.
	Findings []checker.CellFinding
	// Counterexamples holds a shrunk schedule for each cell that was broken, but for those that
	// another explains: it is of the same guarantee under fewer of the conditions, and its
	// violations count against the claims, or do not, as those of the other do. What is
	// shrunk may lose conditions, and is then found here, and in Findings, as what it became.
	Counterexamples map[lockbench.Cell]Counterexample
	// Grants counts over all schedules.
	Grants int64
	// Defects are lockbench's own contradictions: judges that disagree, the schedule of a file
	// that did not replay. Such a result proves nothing.
	Defects []string
	// Elapsed is real time, and the only thing here that differs between two runs
	// of one seed without a time budget.
	Elapsed time.Duration
}

// Coverage says which schedules were looked at.
type Coverage struct {
	Strategy Strategy // Exhaustive, Random or PCT: what the schedules were chosen by
	Scenario string
	Clients, Threads, Rounds,
	Faults, Moves int
	Kinds []fault.Kind
	// Schedules were run and judged; Pruned are branches left out because they
	// were shown to be equal to one that was not.
	Schedules, Pruned int64
	// Diverged counts schedules that went another way when they were run again: the lock does
	// what no seed decides. They are dropped, and what they had broken with them.
	Diverged int64
	// Lacks are commands that the lock sent and that the server of an exploration does not
	// know, such as "CLIENT TRACKING": what came of their errors says nothing of the lock.
	Lacks []string
	// Complete: every schedule of the scope was run or shown to be equal to one.
	Complete bool
	// Stopped says what ended it otherwise: "budget", "schedules" or "interrupted";
	// "clock" at the end of virtual time, "steps" when a schedule would not end, "leak"
	// when a call did not return, "divergence" when a schedule went another way the
	// second time, "replay" for that of a file.
	Stopped string
}

// A Counterexample is a failing schedule, shrunk.
type Counterexample struct {
	// The cell with its verdict: broken or, of a replay file, its finding on the cell that it names.
	checker.CellFinding
	// Sentence says what happened, in one line.
	Sentence string
	// Replay is the file that runs the schedule again.
	Replay Replay
	// Rows are the steps, to be shown as a table.
	Rows []Row
	// FoundAt is the number of the schedule that showed it first, from 1.
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
	// Holders are the clients that believe they hold a key, after the step.
	Holders []string
}

// Progress is told now and then while exploring.
type Progress struct {
	Schedules int64
	Broken    []lockbench.Cell // what counts against the claims, in the order of Cell.Compare
	Elapsed   time.Duration
}

// Sentence says what was covered: "exhaustive: 2 clients, 2 rounds, 1 fault, 2
// time moves: all 11,110 schedules".
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
