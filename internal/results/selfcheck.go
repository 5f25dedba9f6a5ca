package results

import (
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/figures"
)

// A SelfCheck is a run of a lock that is broken on purpose, under the settings of the
// others: unless these show that it is broken, they show nothing of the others either.
type SelfCheck struct {
	Design string `json:"design"`
	// MustBreak is what it had to break, and Caught whether it was seen to.
	MustBreak lockbench.Cell `json:"must_break"`
	Caught    bool           `json:"caught"`
	// Grants and Overruns (work past the lease) are what it met.
	Grants   int64 `json:"grants"`
	Overruns int64 `json:"overruns"`
	// Error is what went wrong in it, empty for nothing.
	Error string `json:"error,omitempty"`
}

// Catches reports whether a lock that has to break the cell must was caught by being broken on
// found: the same guarantee, under the same conditions, and beside them none under which
// every lease lock breaks it.
func Catches(must, found lockbench.Cell) bool {
	beside := found.Under &^ must.Under &^ lockbench.Survivable
	switch must.Guarantee {
	case lockbench.OwnerRelease, lockbench.LossReported, lockbench.Answers, lockbench.NoSpuriousRefusal, lockbench.Recovery:
		beside = 0 // about what is left when the lock is lost
	}
	return found.Guarantee == must.Guarantee && found.Under.Has(must.Under) && beside == 0
}

// Reason says why it was not caught, and what to do about it.
func (c *SelfCheck) Reason() string {
	if c.Error != "" {
		return "it met an error: " + c.Error
	}
	return fmt.Sprintf("%s met %s: raise --clients or --duration", figures.Plural(c.Grants, "grant"), Outlasted(c.Overruns))
}

// Prove takes up a self-check, nil for none. Where the broken lock was not caught, what
// was held counts as untested, and r is inconclusive unless a claim is broken.
func (r *Result) Prove(c *SelfCheck) {
	r.SelfCheck = c
	if c == nil || c.Caught {
		return
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Exit = worst(run.Exit, Inconclusive)
		run.compareOnly()
		for cell, f := range run.Cells {
			if f.Verdict == checker.Held {
				f.Verdict, f.Note = checker.Untested, "held, but a lock broken on purpose was not caught"
				run.Cells[cell] = f
			}
		}
	}
	r.Exit = r.total()
}

// Outlasted counts holds that their leases did not last for.
func Outlasted(n int64) string {
	if n == 1 {
		return "1 hold that outlived its lease"
	}
	return figures.Number(n) + " holds that outlived their leases"
}
