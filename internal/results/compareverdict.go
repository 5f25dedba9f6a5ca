package results

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/statistics"
)

// What became of a cell.
const (
	CellSame    = "same"
	CellWorse   = "worse"
	CellBetter  = "better"
	CellUnclear = "unclear" // seen on one side only, in so few runs that it may be chance
)

// A CellChange is the change of one cell of a design.
type CellChange struct {
	Cell lockbench.Cell `json:"cell"`
	// Claimed: by either side. What BASE claimed counts against a NEW that dropped the claim.
	Claimed bool `json:"claimed"`
	// Change is worse, better, unclear or same. One more broken claim is always worse,
	// since a violation has a counterexample; every other difference between runs counts when
	// it is no chance.
	Change string `json:"change"`
	// Weaker: it is claimed, was held on 299 occasions or more in BASE, and on fewer in NEW.
	Weaker bool         `json:"weaker,omitempty"`
	Was    checker.Runs `json:"was"`
	Is     checker.Runs `json:"is"`
	// Chance is how often equals would differ as much as the two sides do, 1 when these do
	// not; ChanceAdjusted, corrected for all guarantees compared, decides.
	Chance         float64 `json:"chance"`
	ChanceAdjusted float64 `json:"chance_adjusted"`

	explored bool // then the same on every machine, and no matter of chance
}

// chance is how often equals would differ as much, uncorrected.
func (g *CellChange) chance() float64 {
	was, is := g.Was.Broken, g.Is.Broken
	if g.Was.Runs == 0 || g.Is.Runs == 0 || was*g.Is.Runs == is*g.Was.Runs {
		return 1
	}
	return statistics.Chance(was, g.Was.Runs, is, g.Is.Runs)
}

// settle decides what became of the cell.
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

// ofOneSide is the change of a cell of which one side says nothing. An ability that is
// gone is worse, for whoever relied on it; what was not tested is left open.
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

// cells compares those of all designs, corrected for how many they are.
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

// comparable lists the cells of some run of either side that can be compared.
func (d *ComparedDesign) comparable() []lockbench.Cell {
	return comparable(cellsOf(slices.Concat(d.base, d.changed))...)
}

func cellsOf(runs []observed) (all []checker.Cells) {
	for _, o := range runs {
		all = append(all, o.run.Cells.Cells)
	}
	return all
}

// comparable lists the cells that some of these can be compared by, in order.
func comparable(all ...checker.Cells) (some []lockbench.Cell) {
	for _, c := range all {
		some = append(some, c.Comparable()...)
	}
	slices.SortFunc(some, lockbench.Cell.Compare)
	return slices.Compact(some)
}

// relevant reports whether some run has a finding on the cell, or claims it.
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

// openCells notes the claims of which NEW says nothing, though it could have or BASE
// did.
func (c *Comparison) openCells(d *ComparedDesign) {
	for _, g := range d.Cells {
		if g.Claimed && g.Is.Verdict == checker.Untested && (g.Is.Exercised || g.Was.Runs > 0) {
			c.open(fmt.Sprintf("%s: %s is untested in NEW", d.Label(), g.Cell))
		}
	}
}

// String says what became of the cell.
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
