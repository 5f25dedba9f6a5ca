package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/results"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// oneCell returns a matrix of one design and one part, in which every cell but one is held.
func oneCell(v checker.Verdict, claimed bool) results.Matrix {
	m := results.Matrix{Settings: results.MatrixSettings{Parts: []string{"explore"}}}
	proof := partOf("explore", 0, map[lockbench.Cell]results.Finding{exclusive: {Finding: checker.Finding{Verdict: checker.Broken}}})
	proof.MustBreak = exclusive
	m.SelfCheck.Add(proof)
	found := make(map[lockbench.Cell]results.Finding)
	for _, g := range lockbench.Guarantees() {
		found[g.Name.At(0)] = results.Finding{Finding: checker.Finding{Verdict: checker.Held, Exercised: true}}
	}
	row := results.MatrixRow{Design: "d/v"}
	one := results.Finding{Finding: checker.Finding{Verdict: v, Claimed: claimed, Exercised: true}}
	if v == checker.Broken && claimed {
		one.Against = 1
	}
	found[lease] = one
	row.Add(partOf("explore", 9, found))
	m.Rows = []results.MatrixRow{row}
	m.Settle()
	return m
}

// partOf returns a complete part with these findings.
func partOf(name string, grants int64, found map[lockbench.Cell]results.Finding) results.Part {
	p := results.Part{Name: name, Complete: true, Run: results.Run{Cells: results.NewCells(found)}}
	p.Counts.Grants = grants
	return p
}

// TestOrder checks all pairs of the order: a broken claim, broken, untested or n/a, held.
func TestOrder(t *testing.T) {
	type cell struct {
		verdict checker.Verdict
		claimed bool
	}
	ranks := [][]cell{
		{{checker.Broken, true}},
		{{checker.Broken, false}},
		{{checker.Untested, false}, {checker.Untested, true}, {checker.NotApplicable, false}},
		{{checker.Held, false}, {checker.Held, true}},
	}
	for i, worse := range ranks {
		for j, better := range ranks {
			for _, was := range worse {
				for _, is := range better {
					c := results.CompareMatrices(oneCell(was.verdict, was.claimed), oneCell(is.verdict, is.claimed))
					wantWorse, wantBetter := 0, 0
					if j < i {
						wantWorse = 1
					} else if j > i {
						wantBetter = 1
					}
					if len(c.Worse) != wantWorse || len(c.Better) != wantBetter || c.Exit != wantWorse {
						t.Errorf("%+v -> %+v: got worse %v, better %v, exit %d; want %d, %d, %d", was, is, c.Worse, c.Better, c.Exit, wantWorse, wantBetter, wantWorse)
					}
				}
			}
		}
	}
}

// TestWeaker checks that a claim that held often enough and now holds less often has lost strength,
// which fails the comparison on request. A cell that is worse, was never strong, or is not claimed
// has lost none.
func TestWeaker(t *testing.T) {
	of := func(exposure int64, verdict checker.Verdict, claimed bool) results.Matrix {
		m := oneCell(verdict, claimed)
		cells := &m.Rows[0].Parts[0].Cells
		f := cells.At(lease)
		f.Exposure = exposure
		cells.Set(lease, f)
		m.Settle()
		return m
	}
	for _, c := range []struct {
		name     string
		was, is  results.Matrix
		weaker   bool
		exit     int
		headline string
	}{
		{"weak now", of(299, checker.Held, true), of(298, checker.Held, true), true, results.FailedThreshold, "lease: held on 299 occasions -> on 298, fewer than 299"},
		{"as strong", of(5000, checker.Held, true), of(299, checker.Held, true), false, results.Passed, "No cell is worse"},
		{"weak before", of(298, checker.Held, true), of(1, checker.Held, true), false, results.Passed, "No cell is worse"},
		{"not claimed", of(5000, checker.Held, false), of(1, checker.Held, false), false, results.Passed, "No cell is worse"},
		{"untested now, which is worse already", of(5000, checker.Held, true), of(0, checker.Untested, true), false, results.BrokenClaim, "worse lease"},
		{"broken now, which is worse already", of(5000, checker.Held, true), of(5000, checker.Broken, true), false, results.BrokenClaim, "worse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := results.CompareMatrices(c.was, c.is)
			if before := got.Exit; before == results.FailedThreshold {
				t.Errorf("exit %d, though nobody asked for strength", before)
			}
			got.FailWeaker()
			var text bytes.Buffer
			if err := Write(&text, Text, &got, Options{}); err != nil {
				t.Fatal(err)
			}
			if got.Exit != c.exit || (len(got.Weaker) > 0) != c.weaker || !strings.Contains(text.String(), strings.TrimPrefix(c.headline, "worse ")) {
				t.Errorf("exit %d, weaker %v, want %d, %v, and %q in\n%s", got.Exit, got.Weaker, c.exit, c.weaker, c.headline, &text)
			}
		})
	}
}

func TestCompareMatrices(t *testing.T) {
	heldAll := func() results.Matrix { return oneCell(checker.Held, true) }
	changed := func(change func(*results.Matrix)) results.Matrix {
		m := heldAll()
		change(&m)
		m.Settle()
		return m
	}
	mixture := lockbench.LeaseKept.At(lockbench.Crash | lockbench.Skew)
	mixed := func(v checker.Verdict) results.Matrix {
		return changed(func(m *results.Matrix) {
			m.Rows[0].Parts[0].Cells.Set(mixture, results.Finding{Finding: checker.Finding{Verdict: v}})
		})
	}
	another := changed(func(m *results.Matrix) { m.Rows[0].Design = "d/other" })
	for _, c := range []struct {
		name   string
		old, m results.Matrix
		want   results.MatrixComparison
	}{
		{"the same", heldAll(), heldAll(), results.MatrixComparison{}},
		{"another design", heldAll(), another, results.MatrixComparison{New: []string{"design d/other"}, Gone: []string{"design d/v"}, Exit: results.Inconclusive}},
		{"a design more", heldAll(), changed(func(m *results.Matrix) { m.Rows = append(m.Rows, another.Rows...) }), results.MatrixComparison{New: []string{"design d/other"}}},
		{"a design less", changed(func(m *results.Matrix) { m.Rows = append(m.Rows, another.Rows...) }), heldAll(), results.MatrixComparison{Gone: []string{"design d/other"}}},
		{"a part less", changed(func(m *results.Matrix) {
			m.Settings.Parts = []string{"live", "explore"}
			m.Rows[0].Add(partOf("live", 9, map[lockbench.Cell]results.Finding{lockbench.Exclusion.At(lockbench.Failover): {Finding: checker.Finding{Verdict: checker.Held}}}))
		}), heldAll(), results.MatrixComparison{Notes: []string{"not compared, since it was not run: live"}}},
		{"no part in common", changed(func(m *results.Matrix) { m.Settings.Parts = []string{"live"} }), heldAll(), results.MatrixComparison{
			Notes: []string{"not compared, since it was not run: live", "not compared, since the other has it not: explore", "the two have no part in common"}, Exit: results.Inconclusive,
		}},
		{"a part cut short", heldAll(), changed(func(m *results.Matrix) {
			m.Rows[0].Parts[0].Complete = false
			m.Rows[0].Parts[0].Cells = results.Cells{}
		}), results.MatrixComparison{Exit: results.Inconclusive}},
		{"nothing was caught", heldAll(), changed(func(m *results.Matrix) { forget(&m.SelfCheck) }), results.MatrixComparison{Exit: results.Inconclusive}},
		{"a cell more", changed(func(m *results.Matrix) { delete(m.Rows[0].Parts[0].Cells.Cells, lease) }), heldAll(), results.MatrixComparison{
			Better: []results.MatrixChange{{Design: "d/v", Cell: lease}},
		}},
		{"a mixture that happened to occur", mixed(checker.Held), heldAll(), results.MatrixComparison{}},
		{"a mixture that breaks something", heldAll(), mixed(checker.Broken), results.MatrixComparison{
			Worse: []results.MatrixChange{{Design: "d/v", Cell: mixture}}, Exit: results.BrokenClaim,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := results.CompareMatrices(c.old, c.m)
			for _, all := range [][]results.MatrixChange{got.Better, got.Worse} {
				for i := range all {
					all[i].Was, all[i].Is = results.Finding{}, results.Finding{}
				}
			}
			if diff := cmp.Diff(got, c.want, cmp.AllowUnexported(results.Finding{})); diff != "" {
				t.Errorf("comparison (-got +want):\n%s", diff)
			}
		})
	}
}

// TestCompareLeavesAlone checks that a comparison changes neither matrix.
func TestCompareLeavesAlone(t *testing.T) {
	old, m := matrixSample(), matrixSample()
	old.Settings.Parts = []string{"explore"}
	before, now := encoded(t, old), encoded(t, m)
	results.CompareMatrices(old, m)
	if !bytes.Equal(before, encoded(t, old)) || !bytes.Equal(now, encoded(t, m)) {
		t.Error("comparing changed what was compared")
	}
}

func TestTerminalMatrixComparison(t *testing.T) {
	c := results.CompareMatrices(oneCell(checker.Held, true), oneCell(checker.Broken, true))
	c.Better = results.CompareMatrices(oneCell(checker.Untested, true), oneCell(checker.Held, true)).Better
	c.New, c.Gone, c.Notes = []string{"design a/b"}, []string{"design c/d"}, []string{"not compared, since it was not run: live"}
	var buf bytes.Buffer
	for _, c := range []results.MatrixComparison{c, {}, {Exit: results.Inconclusive}} {
		c.With = "saved.json"
		if err := Write(&buf, Text, &c, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "compared.txt", buf.Bytes())
}
