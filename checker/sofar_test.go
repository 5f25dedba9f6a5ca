package checker

import "testing"

// TestSoFarOnlyRises judges histories with intermediate results: no count ever falls,
// the end has no less, and the judgement equals one without intermediate results.
func TestSoFarOnlyRises(t *testing.T) {
	for seed := range uint64(*histories/100 + 1) {
		s := simulate(seed, expectations[seed%uint64(len(expectations))].fault)
		c := New(s.Header())
		var before Result
		events := 0
		for ev := range s.Events() {
			c.Add(ev)
			if events++; events%7 == 0 {
				now := c.SoFar()
				risen(t, before, now)
				before = now
			}
		}
		end := c.Finish(s.End())
		risen(t, before, end)
		want, err := Check(simulate(seed, expectations[seed%uint64(len(expectations))].fault))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Findings {
			if got, want := end.Findings[i], want.Findings[i]; got.Verdict != want.Verdict || got.Violations != want.Violations {
				t.Fatalf("seed %d: %s is %v with %d, without looks %v with %d", seed, got.Cell, got.Verdict, got.Violations, want.Verdict, want.Violations)
			}
		}
	}
}

func risen(t *testing.T, before, now Result) {
	t.Helper()
	if now.Ops < before.Ops || now.Grants < before.Grants || now.WorstOverlap < before.WorstOverlap {
		t.Fatalf("a count fell: %+v, then %+v", before, now)
	}
	for _, f := range before.Findings {
		if g := now.Find(f.Cell); g.Violations < f.Violations || g.Exposure < f.Exposure {
			t.Fatalf("%s: %d of %d, then %d of %d", f.Cell, f.Violations, f.Exposure, g.Violations, g.Exposure)
		}
	}
}
