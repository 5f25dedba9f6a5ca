package results

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/figures"
	"github.com/lockbench/lockbench/internal/statistics"
)

// What became of a cell.
const (
	CellSame    = "same"
	CellWorse   = "worse"
	CellBetter  = "better"
	CellUnclear = "unclear" // seen on one side only, in so few runs that it may be chance
)

// A CellChange is what became of one cell of a design.
type CellChange struct {
	Cell lockbench.Cell `json:"cell"`
	// Claimed: by either side. What BASE claimed counts against a NEW that dropped the claim.
	Claimed bool `json:"claimed"`
	// Change is worse, better, unclear or same. One more broken claim is always worse,
	// since a violation has a counterexample; every other difference between runs counts when
	// it is no chance.
	Change string `json:"change"`
	// Weaker: it is claimed, was held on 299 occasions or more in BASE, and on fewer in NEW.
	Weaker bool     `json:"weaker,omitempty"`
	Was    Standing `json:"was"`
	Is     Standing `json:"is"`
	// Chance is how often equals would differ as much as the two sides do, 1 when these do
	// not; ChanceAdjusted, corrected for all guarantees compared, decides.
	Chance         float64 `json:"chance"`
	ChanceAdjusted float64 `json:"chance_adjusted"`

	explored bool // then the same on every machine, and no matter of chance
}

// A Standing is what the runs of one side say of a cell.
type Standing struct {
	// Verdict is the gravest of the runs.
	Verdict checker.Verdict `json:"verdict"`
	Claimed bool            `json:"claimed"`
	// Runs are those that say something: held or broken.
	Runs       int   `json:"runs"`
	Broken     int   `json:"broken"`
	Violations int64 `json:"violations"`
	// Occasions are those on which it was held, in all runs together; of runs that broke it
	// none count.
	Occasions int64 `json:"occasions"`

	exercised bool
}

// newStanding sums up what runs say of a cell.
func newStanding(runs []observed, cell lockbench.Cell) Standing {
	s := Standing{Verdict: checker.NotApplicable}
	for i, o := range runs {
		f := o.run.Cells.Read(cell)
		if i == 0 || f.Verdict.Graver(s.Verdict) {
			s.Verdict = f.Verdict
		}
		s.Claimed = s.Claimed || f.Claimed
		s.exercised = s.exercised || f.Exercised
		s.add(f)
		s.Occasions += o.run.Cells.HeldOn(cell)
	}
	return s
}

func (s *Standing) add(f Finding) {
	switch f.Verdict {
	case checker.Broken:
		s.Broken++
	case checker.Held:
	default:
		return
	}
	s.Runs++
	s.Violations += f.Violations
}

// String says it in words, as "broken in 3 of 10 runs".
func (s Standing) String() string {
	switch s.Verdict {
	case checker.Broken:
		return fmt.Sprintf("broken in %d of %s", s.Broken, figures.Plural(int64(s.Runs), "run"))
	case checker.Held:
		return "held in " + figures.Plural(int64(s.Runs), "run")
	}
	return s.Verdict.String()
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
			g := CellChange{Cell: cell, Was: newStanding(d.base, cell), Is: newStanding(d.changed, cell)}
			if !g.spoken() {
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
	all := make(Cells)
	for _, o := range slices.Concat(d.base, d.changed) {
		for _, cell := range comparableCells(o.run.Cells) {
			all[cell] = Finding{}
		}
	}
	return all.Sorted()
}

// spoken reports whether some run says something of the cell, or should have.
func (g *CellChange) spoken() bool {
	return g.Was.Runs+g.Is.Runs > 0 || g.Was.exercised && g.Was.Verdict == checker.Untested || g.Is.exercised && g.Is.Verdict == checker.Untested
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
		if g.Claimed && g.Is.Verdict == checker.Untested && (g.Is.exercised || g.Was.Runs > 0) {
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
