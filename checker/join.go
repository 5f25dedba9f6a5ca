package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/checker/internal/count"
)

// Join returns the judgement of a run from the judgements of its shares, at least one. No two shares have a
// key or a client in common, so that findings and counts add up. A share that is partial makes the whole
// partial. Of the measures of a finding only those of one share are kept, since percentiles do not add up.
func Join(shares ...Result) Result {
	all := shares[0]
	cells := all.Cells()
	for i := range shares[1:] {
		o := &shares[i+1]
		all.absorb(o)
		all.Fairness = all.Fairness.join(o.Fairness)
		all.Standstills.Times += o.Standstills.Times
		all.Standstills.For += o.Standstills.For
		all.Standstills.Longest = max(all.Standstills.Longest, o.Standstills.Longest)
		if o.Partial && !all.Partial {
			all.Partial, all.Why = true, o.Why
		}
		all.Defects = append(slices.Clip(all.Defects), o.Defects...)
		all.GrantsByClient = append(slices.Clip(all.GrantsByClient), o.GrantsByClient...)
		all.CrossChecked += o.CrossChecked
		cells.join(o)
	}
	slices.Sort(all.GrantsByClient)
	all.GrantsByClient = count.Thinned(all.GrantsByClient)
	all.Findings = cells.List()
	return all
}

// join adds the findings of o.
func (c Cells) join(o *Result) {
	for _, f := range o.Findings {
		had, both := c[f.Cell]
		sum := f.Finding
		if both {
			sum, _ = had.Join(f.Cell.Guarantee, f.Finding, false)
			sum.Exposure = AddOccasions(f.Cell.Under, had.Exposure, f.Exposure)
			sum.When = had.When
			sum.When.Merge(f.When)
		}
		c[f.Cell] = sum
	}
}

// join returns the fairness over the clients of f and o.
func (f Fairness) join(o Fairness) Fairness {
	squares := f.squares() + o.squares()
	f.Waits += o.Waits
	f.MaxWait = max(f.MaxWait, o.MaxWait)
	f.MaxBypassed = max(f.MaxBypassed, o.MaxBypassed)
	f.Clients += o.Clients
	f.Grants += o.Grants
	f.Jain = 0
	if squares > 0 {
		f.Jain = math.Round(1000*float64(f.Grants)*float64(f.Grants)/(float64(f.Clients)*squares)) / 1000
	}
	return f
}

// squares returns the sum of the squares of the clients' grants.
func (f Fairness) squares() float64 {
	if f.Jain == 0 {
		return 0
	}
	return float64(f.Grants) * float64(f.Grants) / (float64(f.Clients) * f.Jain)
}
