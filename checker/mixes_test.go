package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/longtest"
)

// conditional are the mutants that do wrong under one condition only: one of these touches
// all that they do.
var conditional = []struct {
	fault mutation
	only  lockbench.Conditions
}{
	{wedgesDead, lockbench.Crash | lockbench.ThreadDeath},
	{wedgesLost, lockbench.LostReply},
	{tellsRefused, lockbench.LostReply},
	{retryFrees, lockbench.LostReply},
	{retryTakes, lockbench.LostReply},
	{wedgesCancelled, lockbench.Cancel},
	{grantsCancelled, lockbench.Cancel},
	{forgets, lockbench.StateLoss},
	{endsStepped, lockbench.StateLoss},
	{failsFlushed, lockbench.ScriptFlush},
	{refusesFlushed, lockbench.ScriptFlush},
	{trustsClocks, lockbench.Skew},
}

// TestViolationsCarryTheirCondition judges mutants that do wrong under one condition only,
// under nothing else and amid other faults. All that counts against their claims carries that
// condition. What they do not claim may lack it: the lock without the mutation, too, lets two
// in past validity, and where the server forgets.
func TestViolationsCarryTheirCondition(t *testing.T) {
	for _, c := range conditional {
		for name, others := range map[string]mixture{"alone": alone, "amid-faults": amidFaults} {
			t.Run(slug(c.fault)+"/"+name, func(t *testing.T) {
				found := 0
				for seed := range uint64(*histories / longtest.Times(12, 6)) {
					s := simulateAmid(seed, c.fault, others)
					for _, f := range s.broken(t) {
						switch {
						case f.Cell.Under&c.only != 0:
							found++
						case f.Against > 0:
							t.Fatalf("seed %d: %s is broken without %s: %s\n%s", seed, f.Cell, c.only, f.Witness.Sentence, s.describe())
						}
					}
				}
				if found == 0 {
					t.Error("nothing was found")
				}
			})
		}
	}
}

// intruders are the mutants that let two in at once, though nothing happened that they do not
// survive.
var intruders = []mutation{
	earlyExpiry, doubleGrant, plainDelete, extendAny, emptyExtend, shortensNested, retryTakes, retryFrees, grantsCancelled, trustsClocks,
}

// TestIntrudersAreCaughtAmidForgetting judges locks that let two in at once, on a server that
// forgets, too, which they need not survive. In 19 of 20 histories in which the occupancy
// monitor saw that they did, something counts against their claims.
func TestIntrudersAreCaughtAmidForgetting(t *testing.T) {
	for _, fault := range intruders {
		t.Run(slug(fault), func(t *testing.T) {
			seen, caught := 0, 0
			missed := map[lockbench.Conditions]int{} // by what touched the leases that were broken
			for seed := range uint64(*histories / longtest.Times(6, 3)) {
				s := simulateAmid(seed, fault, amidForgetting)
				if s.cut != nil || s.header.RenewsUnseen || !slices.ContainsFunc(s.overlaps, func(o overlap) bool { return !o.forgot && !o.beside }) {
					continue
				}
				seen++
				broken := s.broken(t)
				if slices.ContainsFunc(broken, func(f Finding) bool { return f.Against > 0 }) {
					caught++
					continue
				}
				under := lockbench.Conditions(0)
				for _, f := range broken {
					if f.Cell.Guarantee == lockbench.LeaseKept || f.Cell.Guarantee == lockbench.Exclusion {
						under |= f.Cell.Under
					}
				}
				missed[under]++
				if testing.Verbose() && missed[under] <= 1 {
					t.Logf("seed %d: missed, broken under %q: %v", seed, under, s.overlaps)
				}
			}
			t.Logf("caught in %d of %d histories; missed under %v", caught, seen, missed)
			if seen == 0 || caught*20 < seen*19 {
				t.Errorf("caught in %d of the %d histories in which two were inside at once, want 95 %% at least", caught, seen)
			}
		})
	}
}

// slug is the name of a test of fault.
func slug(fault mutation) string { return strings.ReplaceAll(string(fault), " ", "-") }
