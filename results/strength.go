package results

import (
	"fmt"
	"slices"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/lib/figures"
)

// A StrengthLoss is a claim of a design that held on enough occasions before, [conclusion.Enough]
// (299) at least, and now holds on fewer or on none.
type StrengthLoss struct {
	Design string
	Cell   lockbench.Cell
	// Was and Is are the numbers of occasions on which the claim held.
	Was, Is int64
}

// String returns the cell and both numbers, as "lua-token/token recovery@crash: held on 412
// occasions -> on 17, fewer than 299".
func (l StrengthLoss) String() string {
	return fmt.Sprintf("%s %s: %s", l.Design, l.Cell, weaker(l.Was, l.Is))
}

func weaker(was, is int64) string {
	return fmt.Sprintf("held on %s -> on %s, fewer than %d", figures.Plural(was, "occasion"), figures.Number(is), conclusion.Enough)
}

// losesStrength reports whether a claim lost strength: the number of occasions fell from enough to
// too few.
func losesStrength(was, is int64) bool { return was >= conclusion.Enough && is < conclusion.Enough }

// weaker records the claims of a design that lost strength, except for claims that are worse.
func (c *MatrixComparison) weaker(design string, before, now checker.Cells) {
	for _, cell := range comparable(before, now) {
		was, is := before.HeldOn(cell), now.HeldOn(cell)
		if claimed := before[cell].Claimed || now[cell].Claimed; !claimed || !losesStrength(was, is) || c.worse(design, cell) {
			continue
		}
		c.Weaker = append(c.Weaker, StrengthLoss{Design: design, Cell: cell, Was: was, Is: is})
	}
}

func (c *MatrixComparison) worse(design string, cell lockbench.Cell) bool {
	return slices.ContainsFunc(c.Worse, func(w MatrixChange) bool { return w.Design == design && w.Cell == cell })
}

// FailWeaker makes the exit code 4 if a claim lost strength, unless it is worse already.
func (c *MatrixComparison) FailWeaker() {
	if len(c.Weaker) > 0 {
		c.Exit = worst(c.Exit, FailedThreshold)
	}
}

// StrengthLosses lists the claims of all designs that lost strength.
func (c *Comparison) StrengthLosses() (all []StrengthLoss) {
	for i := range c.Designs {
		d := &c.Designs[i]
		for _, g := range d.Cells {
			if g.Weaker {
				all = append(all, StrengthLoss{Design: d.Label(), Cell: g.Cell, Was: g.Was.Occasions, Is: g.Is.Occasions})
			}
		}
	}
	return all
}
