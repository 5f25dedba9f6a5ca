package checker

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// claimsJudged are histories of the simulated lock and of its mutants in which something is
// broken, half of them amid other faults.
func claimsJudged(t *testing.T) (all []simulated) {
	t.Helper()
	faults := []mutation{sound, sound, sound}
	for _, b := range expectations {
		faults = append(faults, b.fault)
	}
	for i, fault := range faults {
		for seed := uint64(100 * i); ; seed++ {
			s := simulateAmid(seed, fault, []mixture{amidFaults, alone}[i%2])
			if len(s.broken(t)) > 0 {
				all = append(all, s)
				break
			}
		}
	}
	return all
}

// randomClaims draws claims, with cells of their own and exceptions.
func randomClaims(r *rand.Rand) (claims lockbench.Claims) {
	for _, g := range names {
		if r.IntN(4) > 0 {
			claims.Keeps = append(claims.Keeps, g)
		}
	}
	claims.Survives = manyConditions(r)
	for range r.IntN(3) {
		claims.Also = append(claims.Also, randomGuarantee(r).At(randomConditions(r)))
	}
	for range r.IntN(3) {
		e := lockbench.Exception{Under: fewConditions(r), Lasts: r.IntN(3) == 0, Why: "the test says so"}
		if e.Under == 0 {
			e.Under = lockbench.Crash
		}
		if r.IntN(3) > 0 {
			e.Gives = some(randomGuarantee(r))
		}
		claims.Except = append(claims.Except, e)
	}
	return claims
}

func randomGuarantee(r *rand.Rand) lockbench.Guarantee { return names[r.IntN(len(names))] }

// manyConditions draws three in four of the conditions.
func manyConditions(r *rand.Rand) lockbench.Conditions {
	some := randomConditions(r)
	return some | randomConditions(r)
}

// fewConditions draws one in four.
func fewConditions(r *rand.Rand) lockbench.Conditions {
	some := randomConditions(r)
	return some & randomConditions(r)
}

func randomConditions(r *rand.Rand) lockbench.Conditions {
	all := lockbench.AllConditions()
	return lockbench.Conditions(r.Uint64()) & (1<<len(all) - 1)
}

// more adds claims to these, and no exception.
func more(r *rand.Rand, claims lockbench.Claims) lockbench.Claims {
	claims = claims.With(randomGuarantee(r), randomGuarantee(r))
	claims.Survives |= randomConditions(r)
	claims.Also = append(slices.Clone(claims.Also), randomGuarantee(r).At(randomConditions(r)))
	return claims
}

// judgedFor is the judgement of s against these claims, and the same without the parts that
// depend on them: whether a row is claimed, to be exercised, and the violations that count. A
// guarantee that needs an ability which the lock did not show is n/a or untested, depending
// on its claim: that is independent of findings.
func judgedFor(t *testing.T, s simulated, claims lockbench.Claims) (r, found Result) {
	t.Helper()
	s.header.Claims = claims
	r, err := Check(s)
	if err != nil {
		t.Fatal(err)
	}
	found = r
	found.Findings = slices.Clone(r.Findings)
	for i := range found.Findings {
		f := &found.Findings[i]
		f.Claimed, f.Exercised, f.Against = false, false, 0
		if f.Verdict == NotApplicable {
			f.Verdict = Untested
		}
		if f.Verdict == Untested {
			f.Note = ""
		}
	}
	found.CrossChecked = 0 // porcupine has a time limit
	return r, found
}

// TestFindingsDoNotDependOnClaims judges histories against many claims. The findings are
// equal, and a larger claim has at least as many violations on each cell.
func TestFindingsDoNotDependOnClaims(t *testing.T) {
	judged := claimsJudged(t)
	var without []Result
	for _, s := range judged {
		_, found := judgedFor(t, s, lockbench.Claims{})
		without = append(without, found)
	}
	r := rand.New(rand.NewPCG(5, 6))
	rose := 0
	for range longtest.Times(60, 1000) {
		fewer := randomClaims(r)
		wider := more(r, fewer)
		for i, s := range judged {
			few, found := judgedFor(t, s, fewer)
			if !reflect.DeepEqual(found, without[i]) {
				t.Fatalf("claims %v, against none (-none +these):\n%s\n%s", fewer, cmp.Diff(without[i], found), s.describe())
			}
			many, _ := judgedFor(t, s, wider)
			for j, f := range few.Findings {
				switch g := many.Findings[j]; {
				case f.Against > g.Against:
					t.Fatalf("%s: %d against %v, but %d against %v\n%s", f.Cell, f.Against, fewer, g.Against, wider, s.describe())
				case f.Against < g.Against:
					rose++
				}
				if f.Against > f.Violations || f.Against > 0 && !slices.Contains(fewer.Keeps, f.Cell.Guarantee) {
					t.Fatalf("%s: %d of %d violations against %v", f.Cell, f.Against, f.Violations, fewer)
				}
			}
		}
	}
	if rose == 0 {
		t.Error("more claims never made a difference: the test compares nothing")
	}
}

// TestMoreConditionsNeverCount draws violations, and lets more conditions touch them, or
// occur before: a violation that did not count against the claims does not count then.
func TestMoreConditionsNeverCount(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	counted, spared := 0, 0
	for range longtest.Times(20_000, 200_000) {
		claims := randomClaims(r)
		v := candidate{kind: kinds[r.IntN(len(kinds))], under: fewConditions(r)}
		c := New(history.Header{Claims: claims})
		c.faults.Occurred = fewConditions(r)
		before := c.counts(v)
		worse := v
		worse.under |= randomConditions(r)
		c.faults.Occurred |= randomConditions(r)
		switch after := c.counts(worse); {
		case after && !before:
			t.Fatalf("claims %v: %v counts under %v and not under %v", claims, v.kind.sentence, worse.under, v.under)
		case after:
			counted++
		case before:
			spared++
		}
	}
	if counted == 0 || spared == 0 {
		t.Errorf("%d counted with more conditions, too, and %d did not: the test compares nothing", counted, spared)
	}
}

// TestLateCommandLasts checks that a command which ran late counts for exceptions that last, on all keys, as the end of
// its call does.
func TestLateCommandLasts(t *testing.T) {
	for _, c := range []struct {
		fault   string
		against int64
	}{{"", 1}, {"A 16 fault late\n", 0}, {"A 2.5 fault cancel\n", 0}, {"A 2.5 fault lost-reply\n", 1}} {
		h := parseText(t, "A 0-1 acquire ok ttl=10\nA 2-3 release unknown\n"+c.fault+
			"C 30-31 acquire ok ttl=100 key=other\nD 33-34 acquire ok ttl=100 key=other\n")
		h.header.Claims = lockbench.Claims{
			Keeps:  []lockbench.Guarantee{lockbench.Exclusion},
			Except: []lockbench.Exception{{Gives: []lockbench.Guarantee{lockbench.Exclusion}, Under: lockbench.Cancel, Lasts: true, Why: "a call that was given up may run late"}},
		}
		r, err := Check(h.source())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Findings, func(f CellFinding) bool { return f.Cell == lockbench.Exclusion.At(0) })
		if i < 0 || r.Findings[i].Violations != 1 || r.Findings[i].Against != c.against {
			t.Errorf("%q: %+v; want one violation, of which %d count", c.fault, r.Findings, c.against)
		}
	}
}
