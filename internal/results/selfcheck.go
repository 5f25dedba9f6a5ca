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
	// MustBreak is the cell that it had to break, Caught whether a violation of it was found.
	MustBreak lockbench.Cell `json:"must_break"`
	Caught    bool           `json:"caught"`
	// Grants and Overruns (work past the lease) count the occasions that it met.
	Grants   int64 `json:"grants"`
	Overruns int64 `json:"overruns"`
	// Error is the error of the run, empty for none.
	Error string `json:"error,omitempty"`
	// Probes are further broken locks, one for each condition that the faults of the runs
	// exercise and under which something was held.
	Probes []Probe `json:"probes,omitempty"`
}

// A Probe is a run of a lock that breaks a cell under the faults that bring the condition of
// this cell: unless it is caught, nothing that was held under this condition counts.
type Probe struct {
	Design    string         `json:"design"`
	MustBreak lockbench.Cell `json:"must_break"`
	Caught    bool           `json:"caught"`
	// Exposure is how many occasions it met under the condition.
	Exposure int64 `json:"exposure"`
	// Error is the error of the run, empty for none.
	Error string `json:"error,omitempty"`
}

// Reason says why it was not caught, and what to do about it.
func (p *Probe) Reason() string {
	if p.Error != "" {
		return "it met an error: " + p.Error
	}
	return fmt.Sprintf("it met %s: raise --clients or --duration", figures.Plural(p.Exposure, "occasion"))
}

// Catches reports whether a lock that has to break the cell must was caught by being broken on
// found: the same guarantee, under the same conditions, and beside them none under which
// every lease lock breaks it.
func Catches(must, found lockbench.Cell) bool {
	beside := found.Under &^ must.Under &^ lockbench.Survivable
	if must.Guarantee == lockbench.OwnerRelease || checker.Asks(must.Guarantee) >= checker.Stuck {
		beside = 0 // about what is left when the lock is lost
	}
	return found.Guarantee == must.Guarantee && found.Under.Has(must.Under) && beside == 0
}

// Reason says why it was not caught, and what to do about it.
func (c *SelfCheck) Reason() string {
	if c.Error != "" {
		return "it met an error: " + c.Error
	}
	return fmt.Sprintf("%s met %s: raise --clients or --duration", figures.Plural(c.Grants, "grant"), OutlivedHolds(c.Overruns))
}

// Prove takes up a self-check, nil for none. Where the broken lock was not caught, what
// was held counts as untested, and r is inconclusive unless a claim is broken. Where a probe
// was not caught the same goes for what was held under its condition.
func (r *Result) Prove(c *SelfCheck) {
	r.SelfCheck = c
	switch {
	case c == nil:
	case !c.Caught:
		r.doubtAll()
	default:
		r.applyProbes(c.Probes)
	}
	r.Exit = r.total()
}

// applyProbes makes cells untested that were held under the condition of a probe that was not caught.
// A run with a claim among them is inconclusive.
func (r *Result) applyProbes(all []Probe) {
	for _, p := range all {
		for i := range r.Runs {
			if !p.Caught {
				r.Runs[i].applyProbe(&p)
			}
		}
	}
}

func (r *Run) applyProbe(p *Probe) {
	under := p.MustBreak.Under
	if under != 0 && r.Cells.Doubt(under, fmt.Sprintf("held, but a lock that breaks %s was not caught", p.MustBreak)) {
		r.Exit = worst(r.Exit, Inconclusive)
	}
}

// doubtAll makes all held cells untested, and the runs inconclusive.
func (r *Result) doubtAll() {
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Exit = worst(run.Exit, Inconclusive)
		run.compareOnly()
		run.Cells.Doubt(0, "held, but a lock broken on purpose was not caught")
	}
}

// OutlivedHolds says how many holds outlived their leases.
func OutlivedHolds(n int64) string {
	if n == 1 {
		return "1 hold that outlived its lease"
	}
	return figures.Number(n) + " holds that outlived their leases"
}
