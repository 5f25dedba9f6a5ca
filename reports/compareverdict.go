package reports

import (
	"fmt"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/statistics"
)

// What became of a guarantee.
const (
	guaranteeSame    = "same"
	guaranteeWorse   = "worse"
	guaranteeBetter  = "better"
	guaranteeUnclear = "unclear" // seen on one side only, in so few runs that it may be chance
)

// A GuaranteeChange is what became of one guarantee of a design.
type GuaranteeChange struct {
	Guarantee lockbench.Guarantee `json:"guarantee"`
	// Claimed: by either side. What BASE claimed counts against a NEW that dropped the claim.
	Claimed bool `json:"claimed"`
	// Change is worse, better, unclear or same. One more broken claim is always worse,
	// since a violation has a witness; every other difference between runs counts when
	// it is no chance.
	Change string   `json:"change"`
	Was    Standing `json:"was"`
	Is     Standing `json:"is"`
	// Chance is how often equals would differ as much as the two sides do, 1 when these do
	// not; ChanceAdjusted, corrected for all guarantees compared, decides.
	Chance         float64 `json:"chance"`
	ChanceAdjusted float64 `json:"chance_adjusted"`

	explored bool // then the same on every machine, and no matter of chance
}

// A Standing is what the runs of one side say of a guarantee.
type Standing struct {
	// Verdict is the gravest of the runs.
	Verdict checker.Verdict `json:"verdict"`
	Claimed bool            `json:"claimed"`
	// Runs are those that say something: held, broken or hazard.
	Runs       int   `json:"runs"`
	Broken     int   `json:"broken"`
	Hazards    int   `json:"hazards"`
	Violations int64 `json:"violations"`

	exercised bool
}

// newStanding sums up what runs say of a guarantee.
func newStanding(runs []observed, name lockbench.Guarantee) Standing {
	s := Standing{Verdict: checker.NotApplicable}
	for i, o := range runs {
		g := o.run.Guarantees[name]
		if i == 0 || g.Verdict.Graver(s.Verdict) {
			s.Verdict = g.Verdict
		}
		s.Claimed = s.Claimed || g.Claimed
		s.exercised = s.exercised || g.Exercised
		s.add(g)
	}
	return s
}

func (s *Standing) add(g Guarantee) {
	switch g.Verdict {
	case checker.Broken:
		s.Broken++
	case checker.Hazard:
		s.Hazards++
	case checker.Held:
	default:
		return
	}
	s.Runs++
	s.Violations += g.Violations
}

// String says it in words, as "broken in 3 of 10 runs".
func (s Standing) String() string {
	switch s.Verdict {
	case checker.Broken:
		return fmt.Sprintf("broken in %d of %s", s.Broken, plural(int64(s.Runs), "run"))
	case checker.Hazard:
		return fmt.Sprintf("hazard in %d of %s", s.Hazards, plural(int64(s.Runs), "run"))
	case checker.Held:
		return "held in " + plural(int64(s.Runs), "run")
	}
	return s.Verdict.String()
}

// bad counts the runs that show as bad as the worse of the two sides shows.
func (g *GuaranteeChange) bad() (was, is int) {
	if g.Was.Broken+g.Is.Broken > 0 {
		return g.Was.Broken, g.Is.Broken
	}
	return g.Was.Hazards, g.Is.Hazards
}

// chance is how often equals would differ as much, uncorrected.
func (g *GuaranteeChange) chance() float64 {
	was, is := g.bad()
	if g.Was.Runs == 0 || g.Is.Runs == 0 || was*g.Is.Runs == is*g.Was.Runs {
		return 1
	}
	return statistics.Chance(was, g.Was.Runs, is, g.Is.Runs)
}

// settle decides what became of the guarantee.
func (g *GuaranteeChange) settle() {
	was, is := g.bad()
	sure := g.explored || g.ChanceAdjusted <= statistics.Usual
	switch {
	case g.Was.Runs == 0 || g.Is.Runs == 0:
		g.Change = g.ofOneSide()
	case was*g.Is.Runs == is*g.Was.Runs:
		g.Change = guaranteeSame
	case g.Was.Broken == 0 && g.Is.Broken > 0 && g.Claimed:
		g.Change = guaranteeWorse
	case !sure:
		g.Change = guaranteeUnclear
	case was*g.Is.Runs < is*g.Was.Runs:
		g.Change = guaranteeWorse
	default:
		g.Change = guaranteeBetter
	}
}

// ofOneSide is the change of a guarantee of which one side says nothing. An ability that is
// gone is worse, for whoever relied on it; what was not tested is left open.
func (g *GuaranteeChange) ofOneSide() string {
	switch {
	case g.Is.Verdict == checker.Broken:
		return guaranteeWorse
	case g.Was.Verdict == checker.Held && g.Is.Verdict == checker.NotApplicable:
		return guaranteeWorse
	case g.Was.Verdict == checker.NotApplicable && g.Is.Verdict == checker.Held:
		return guaranteeBetter
	}
	return guaranteeSame
}

// guarantees compares those of all designs, corrected for how many they are.
func (c *Comparison) guarantees() {
	var ps []float64
	for i := range c.Designs {
		d := &c.Designs[i]
		for _, info := range lockbench.Guarantees() {
			g := GuaranteeChange{Guarantee: info.Name, Was: newStanding(d.base, info.Name), Is: newStanding(d.changed, info.Name)}
			if !g.spoken() {
				continue
			}
			g.Claimed = g.Was.Claimed || g.Is.Claimed
			g.explored = d.base[0].run.Exploration != nil && d.changed[0].run.Exploration != nil
			g.Chance = g.chance()
			d.Guarantees = append(d.Guarantees, g)
			ps = append(ps, g.Chance)
		}
	}
	adjusted := statistics.Holm(ps, nil)
	for i := range c.Designs {
		for j := range c.Designs[i].Guarantees {
			g := &c.Designs[i].Guarantees[j]
			g.ChanceAdjusted, adjusted = adjusted[0], adjusted[1:]
			g.settle()
		}
	}
}

// spoken tells whether some run says something of the guarantee, or should have.
func (g *GuaranteeChange) spoken() bool {
	if g.Guarantee == lockbench.Fairness {
		return false // measured, not judged
	}
	return g.Was.Runs+g.Is.Runs > 0 || g.Was.exercised && g.Was.Verdict == checker.Untested || g.Is.exercised && g.Is.Verdict == checker.Untested
}

// claimsWorse counts the claimed guarantees that are worse.
func (c *Comparison) claimsWorse() (n int) {
	for _, d := range c.Designs {
		for _, g := range d.Guarantees {
			if g.Change == guaranteeWorse && g.Claimed {
				n++
			}
		}
	}
	return n
}

// openGuarantees notes the claims of which NEW says nothing, though it could have or BASE
// did.
func (c *Comparison) openGuarantees(d *ComparedDesign) {
	for _, g := range d.Guarantees {
		if g.Claimed && g.Is.Verdict == checker.Untested && (g.Is.exercised || g.Was.Runs > 0) {
			c.open(fmt.Sprintf("%s: %s is untested in NEW", d.label(), g.Guarantee))
		}
	}
}

// String says what became of the guarantee.
func (g *GuaranteeChange) String() string {
	name := string(g.Guarantee)
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
	if g.Change != guaranteeSame && g.Chance < 1 && g.ChanceAdjusted > statistics.Usual && !g.explored {
		text += fmt.Sprintf("; equals differ so in %.0f%% of cases", 100*g.Chance)
	}
	return text
}
