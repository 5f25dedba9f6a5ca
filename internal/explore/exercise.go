package explore

import (
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/workloads"
)

// exercises returns the cells that p can test within the scope of c. If the design claims one of
// them and it stays untested, that is an open question. skews is set if the design reads the clock.
func (c *Config) exercises(p workloads.Program, skews bool) []lockbench.Cell {
	contend := slices.Contains(p.Exercises, lockbench.Exclusion.At(0))
	renews := c.Design.Renews || c.Design.RenewsUnseen // then a slow owner does not lose the lock
	o := c.options(p)
	if c.hastens() && p.Exploration.Wait == 0 && !renews {
		o.Slow = 1
	}
	found := p.Cells(o)
	for _, cell := range c.faulted() {
		if cell, tests := c.tests(cell, skews && contend); tests {
			found = append(found, cell)
		}
	}
	if renews {
		found = slices.DeleteFunc(found, func(cell lockbench.Cell) bool {
			return cell.Guarantee == lockbench.OwnerRelease || cell.Guarantee == lockbench.LossReported
		})
	}
	return found
}

// faulted lists the cells that the faults of c test.
func (c *Config) faulted() (cells []lockbench.Cell) {
	if c.Faults <= 0 {
		return nil
	}
	for _, kind := range c.Kinds {
		cells = append(cells, fault.Of(kind).Exercises...)
	}
	return cells
}

// tests returns the cell that a fault tests under c, and whether it does. skews is set if clocks
// can matter. Owners that work past their lease are left to hastens.
func (c *Config) tests(cell lockbench.Cell, skews bool) (_ lockbench.Cell, tests bool) {
	switch {
	case cell.Under == lockbench.Outlived:
		return cell, false
	case cell.Under == lockbench.Skew:
		return cell, skews && c.Clients > c.Threads
	case cell.Guarantee == lockbench.Exclusion:
		return cell, c.Clients > 1
	case cell.Under == lockbench.Crash && c.Threads > 1: // other clients of its process live on
		cell.Under = lockbench.ThreadDeath
	}
	return cell, true
}

// hastens reports whether leases may end before their owners release them.
func (c *Config) hastens() bool {
	return c.Moves > 0 || slices.ContainsFunc(c.faulted(), func(cell lockbench.Cell) bool { return cell.Under == lockbench.Outlived })
}
