package results

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/measure/statistics"
)

// The changes of a cell.
const (
	CellSame    = "same"
	CellWorse   = "worse"
	CellBetter  = "better"
	CellUnclear = "unclear" // the sides differ, but the difference may be chance
)

// A CellChange compares the findings on one cell of a design between the two sides.
type CellChange struct {
	Cell lockbench.Cell `json:"cell"`
	// Claimed reports whether either side claims the cell. A claim of BASE counts even if NEW no
	// longer makes it.
	Claimed bool `json:"claimed"`
	// Change is worse, better, unclear or same. A claim that no run of BASE broke and a run of NEW
	// broke is always worse, since the violation has a counterexample. Any other difference between
	// live runs must be statistically significant, or it is unclear.
	Change string `json:"change"`
	// Weaker reports whether a claim lost strength: it held on at least [conclusion.Enough]
	// occasions (299) in BASE, and on fewer in NEW.
	Weaker bool `json:"weaker,omitempty"`
	// Was and Is are the findings of all runs of BASE and of NEW.
	Was checker.Runs `json:"was"`
	Is  checker.Runs `json:"is"`
	// Chance is the probability that two equal sides differ as much as these do; 1 if these do not
	// differ. ChanceAdjusted is Chance corrected for all cells compared; Change depends on it.
	Chance         float64 `json:"chance"`
	ChanceAdjusted float64 `json:"chance_adjusted"`

	explored bool // both sides were explored, so that their difference cannot be chance
}

// chance returns the probability that two equal sides differ as much as these do, not corrected for
// the number of cells.
func (g *CellChange) chance() float64 {
	was, is := g.Was.Broken, g.Is.Broken
	if g.Was.Runs == 0 || g.Is.Runs == 0 || was*g.Is.Runs == is*g.Was.Runs {
		return 1
	}
	return statistics.Chance(was, g.Was.Runs, is, g.Is.Runs)
}

// settle sets the change of the cell.
func (g *CellChange) settle() {
	was, is := g.Was.Broken, g.Is.Broken
	sure := g.explored || g.ChanceAdjusted <= statistics.Usual
	switch {
	case g.Was.Runs == 0 || g.Is.Runs == 0:
		g.Change = g.ofOneSide()
	case was*g.Is.Runs == is*g.Was.Runs:
		g.Change = CellSame
	case g.Was.Broken == 0 && g.Is.Broken > 0 && g.Claimed:
		g.Change = CellWorse
	case !sure:
		g.Change = CellUnclear
	case was*g.Is.Runs < is*g.Was.Runs:
		g.Change = CellWorse
	default:
		g.Change = CellBetter
	}
}

// ofOneSide returns the change of a cell if one side has no run that held or broke it. To lose an
// ability is worse, since users may rely on it. An untested cell counts as the same.
func (g *CellChange) ofOneSide() string {
	switch {
	case g.Is.Verdict == checker.Broken:
		return CellWorse
	case g.Was.Verdict == checker.Held && g.Is.Verdict == checker.NotApplicable:
		return CellWorse
	case g.Was.Verdict == checker.NotApplicable && g.Is.Verdict == checker.Held:
		return CellBetter
	}
	return CellSame
}

// cells compares the cells of all designs, as one family of tests.
func (c *Comparison) cells() {
	var ps []float64
	for i := range c.Designs {
		d := &c.Designs[i]
		for _, cell := range d.comparable() {
			g := CellChange{Cell: cell, Was: checker.Across(cellsOf(d.base), cell), Is: checker.Across(cellsOf(d.changed), cell)}
			if !g.relevant() {
				continue
			}
			g.Claimed = g.Was.Claimed || g.Is.Claimed
			g.explored = d.base[0].run.Exploration != nil && d.changed[0].run.Exploration != nil
			g.Chance = g.chance()
			d.Cells = append(d.Cells, g)
			ps = append(ps, g.Chance)
		}
	}
	adjusted := statistics.Holm(ps, nil)
	for i := range c.Designs {
		for j := range c.Designs[i].Cells {
			g := &c.Designs[i].Cells[j]
			g.ChanceAdjusted, adjusted = adjusted[0], adjusted[1:]
			g.settle()
			g.Weaker = g.Claimed && g.Change != CellWorse && g.Is.Broken == 0 && losesStrength(g.Was.Occasions, g.Is.Occasions)
		}
	}
}

// comparable lists the cells that can be compared in some run of d, see [checker.Cells.Comparable].
func (d *ComparedDesign) comparable() []lockbench.Cell {
	return comparable(cellsOf(slices.Concat(d.base, d.changed))...)
}

// cellsOf returns the cells of each run.
func cellsOf(runs []observed) (all []checker.Cells) {
	for _, o := range runs {
		all = append(all, o.run.Cells.Cells)
	}
	return all
}

// comparable lists, sorted, the cells that can be compared in any of these runs.
func comparable(all ...checker.Cells) (some []lockbench.Cell) {
	for _, c := range all {
		some = append(some, c.Comparable()...)
	}
	slices.SortFunc(some, lockbench.Cell.Compare)
	return slices.Compact(some)
}

// relevant reports whether a run held or broke the cell, or could have put it to the test.
func (g *CellChange) relevant() bool {
	return g.Was.Runs+g.Is.Runs > 0 || g.Was.Exercised && g.Was.Verdict == checker.Untested || g.Is.Exercised && g.Is.Verdict == checker.Untested
}

// ClaimsWorse counts the claimed cells that are worse.
func (c *Comparison) ClaimsWorse() (n int) {
	for _, d := range c.Designs {
		for _, g := range d.Cells {
			if g.Change == CellWorse && g.Claimed {
				n++
			}
		}
	}
	return n
}

// openCells records the claims that are untested in NEW although a run of NEW could have tested
// them or a run of BASE did.
func (c *Comparison) openCells(d *ComparedDesign) {
	for _, g := range d.Cells {
		if g.Claimed && g.Is.Verdict == checker.Untested && (g.Is.Exercised || g.Was.Runs > 0) {
			c.open(fmt.Sprintf("%s: %s is untested in NEW", d.Label(), g.Cell))
		}
	}
}

// String returns the cell with its findings on both sides, as "exclusion*: held in 5 runs -> broken
// in 1 of 5 runs". An asterisk marks a claim.
func (g *CellChange) String() string {
	name := g.Cell.String()
	if g.Claimed {
		name += "*"
	}
	text := fmt.Sprintf("%s: %s -> %s", name, g.Was, g.Is)
	switch {
	case g.Was.Claimed && !g.Is.Claimed:
		text += ", no longer claimed"
	case !g.Was.Claimed && g.Is.Claimed:
		text += ", newly claimed"
	}
	if g.Change != CellSame && g.Chance < 1 && g.ChanceAdjusted > statistics.Usual && !g.explored {
		text += fmt.Sprintf("; equals differ so in %.0f%% of cases", 100*g.Chance)
	}
	return text
}
