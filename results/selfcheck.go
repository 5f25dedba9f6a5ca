package results

import (
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lib/figures"
)

// A SelfCheck is the outcome of a run of a lock that is broken on purpose, under the settings of
// the other runs. If that lock is not caught, nothing that the other locks held is proven.
type SelfCheck struct {
	Design string `json:"design"`
	// MustBreak is the cell that the lock had to break. Caught reports whether a violation of it
	// was found.
	MustBreak lockbench.Cell `json:"must_break"`
	Caught    bool           `json:"caught"`
	// Grants counts the grants of the run, and Overruns the holds that outlived their leases: the
	// occasions on which the lock could be caught.
	Grants   int64 `json:"grants"`
	Overruns int64 `json:"overruns"`
	// Error is the error of the run, empty for none.
	Error string `json:"error,omitempty"`
	// Probes are the outcomes of further broken locks, one for each condition that the faults of
	// the runs bring about and under which a cell was held.
	Probes []Probe `json:"probes,omitempty"`
}

// A Probe is the outcome of a run of a lock that breaks MustBreak under the faults that bring about
// the conditions of MustBreak. If that lock is not caught, nothing that other locks held under
// these conditions is proven.
type Probe struct {
	Design    string         `json:"design"`
	MustBreak lockbench.Cell `json:"must_break"`
	Caught    bool           `json:"caught"`
	// Exposure is the number of occasions that the lock had under the conditions.
	Exposure int64 `json:"exposure"`
	// Error is the error of the run, empty for none.
	Error string `json:"error,omitempty"`
}

// Reason explains why the lock was not caught, with a hint.
func (p *Probe) Reason() string {
	if p.Error != "" {
		return "it met an error: " + p.Error
	}
	return fmt.Sprintf("it met %s: raise --clients or --duration", figures.Plural(p.Exposure, "occasion"))
}

// Catches reports whether a lock that has to break the cell must is caught by breaking the cell
// found. Both must be of the same guarantee, found must have all the conditions of must, and none
// of its further conditions may be one under which every lease lock breaks the guarantee.
func Catches(must, found lockbench.Cell) bool {
	beside := found.Under &^ must.Under &^ lockbench.Survivable
	if must.Guarantee == lockbench.OwnerRelease || checker.Asks(must.Guarantee) >= checker.Stuck {
		beside = 0 // these guarantees are about the state after a lock was lost
	}
	return found.Guarantee == must.Guarantee && found.Under.Has(must.Under) && beside == 0
}

// Reason explains why the lock was not caught, with a hint.
func (c *SelfCheck) Reason() string {
	if c.Error != "" {
		return "it met an error: " + c.Error
	}
	return fmt.Sprintf("%s met %s: raise --clients or --duration", figures.Plural(c.Grants, "grant"), OutlivedHolds(c.Overruns))
}

// Prove sets the self-check of r, nil for none. If the broken lock was not caught, every held cell
// becomes untested, and r is inconclusive unless a claim is broken. If a probe was not caught, the
// same applies to the cells held under its conditions.
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

// applyProbes makes the cells untested that were held under the conditions of a probe that was not
// caught. A run with a claim among them is inconclusive.
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

// doubtAll makes all held cells untested, and all runs inconclusive except for controls.
func (r *Result) doubtAll() {
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Exit = worst(run.Exit, Inconclusive)
		run.compareOnly()
		run.Cells.Doubt(0, "held, but a lock broken on purpose was not caught")
	}
}

// OutlivedHolds returns n in words: "2 holds that outlived their leases".
func OutlivedHolds(n int64) string {
	if n == 1 {
		return "1 hold that outlived its lease"
	}
	return figures.Number(n) + " holds that outlived their leases"
}
