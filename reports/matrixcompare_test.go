package reports

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// oneCell is a matrix of one design and one part, in which everything is held but for
// one cell.
func oneCell(v checker.Verdict, claimed bool) Matrix {
	m := Matrix{Settings: MatrixSettings{Parts: []string{"explore"}}}
	m.SelfCheck.Add(MatrixPart{Name: "explore", Complete: true, MustBreak: exclusive}, map[lockbench.Cell]Evidence{
		exclusive: {Finding: Finding{Verdict: checker.Broken}},
	})
	found := make(map[lockbench.Cell]Evidence)
	for _, g := range lockbench.Guarantees() {
		found[g.Name.At(0)] = Evidence{Finding: Finding{Verdict: checker.Held, Exercised: true}}
	}
	row := MatrixRow{Design: "d/v"}
	one := Finding{Verdict: v, Claimed: claimed, Exercised: true}
	if v == checker.Broken && claimed {
		one.Against = 1
	}
	found[lease] = Evidence{Finding: one}
	row.Add(MatrixPart{Name: "explore", Complete: true, Grants: 9}, found)
	m.Rows = []MatrixRow{row}
	m.Settle()
	return m
}

// TestOrder goes through all pairs of the order: a broken claim, broken, untested and n/a,
// held.
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
					c := CompareMatrices(oneCell(was.verdict, was.claimed), oneCell(is.verdict, is.claimed))
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

func TestCompareMatrices(t *testing.T) {
	heldAll := func() Matrix { return oneCell(checker.Held, true) }
	changed := func(change func(*Matrix)) Matrix {
		m := heldAll()
		change(&m)
		m.Settle()
		return m
	}
	mixture := lockbench.LeaseKept.At(lockbench.Crash | lockbench.Skew)
	mixed := func(v checker.Verdict) Matrix {
		return changed(func(m *Matrix) {
			m.Rows[0].Cells[mixture] = MatrixCell{Evidence: []Evidence{{Part: "explore", Finding: Finding{Verdict: v}}}}
		})
	}
	another := changed(func(m *Matrix) { m.Rows[0].Design = "d/other" })
	for _, c := range []struct {
		name   string
		old, m Matrix
		want   MatrixComparison
	}{
		{"the same", heldAll(), heldAll(), MatrixComparison{}},
		{"another design", heldAll(), another, MatrixComparison{New: []string{"design d/other"}, Gone: []string{"design d/v"}, Exit: Inconclusive}},
		{"a design more", heldAll(), changed(func(m *Matrix) { m.Rows = append(m.Rows, another.Rows...) }), MatrixComparison{New: []string{"design d/other"}}},
		{"a design less", changed(func(m *Matrix) { m.Rows = append(m.Rows, another.Rows...) }), heldAll(), MatrixComparison{Gone: []string{"design d/other"}}},
		{"a part less", changed(func(m *Matrix) {
			m.Settings.Parts = []string{"live", "explore"}
			m.Rows[0].Add(MatrixPart{Name: "live", Complete: true, Grants: 9}, map[lockbench.Cell]Evidence{lockbench.Exclusion.At(lockbench.Failover): {Finding: Finding{Verdict: checker.Held}}})
		}), heldAll(), MatrixComparison{Notes: []string{"not compared, since it was not run: live"}}},
		{"no part in common", changed(func(m *Matrix) { m.Settings.Parts = []string{"live"} }), heldAll(), MatrixComparison{
			Notes: []string{"not compared, since it was not run: live", "not compared, since the other has it not: explore", "the two have no part in common"}, Exit: Inconclusive,
		}},
		{"a part cut short", heldAll(), changed(func(m *Matrix) { m.Rows[0].Parts[0].Complete = false; m.Rows[0].Cells = nil }), MatrixComparison{Exit: Inconclusive}},
		{"nothing was caught", heldAll(), changed(func(m *Matrix) { m.SelfCheck.Cells = nil }), MatrixComparison{Exit: Inconclusive}},
		{"a cell more", changed(func(m *Matrix) { delete(m.Rows[0].Cells, lease) }), heldAll(), MatrixComparison{
			Better: []MatrixChange{{Design: "d/v", Cell: lease}},
		}},
		{"a mixture that happened to occur", mixed(checker.Held), heldAll(), MatrixComparison{}},
		{"a mixture that breaks something", heldAll(), mixed(checker.Broken), MatrixComparison{
			Worse: []MatrixChange{{Design: "d/v", Cell: mixture}}, Exit: BrokenClaim,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := CompareMatrices(c.old, c.m)
			for _, all := range [][]MatrixChange{got.Better, got.Worse} {
				for i := range all {
					all[i].Was, all[i].Is = Finding{}, Finding{}
				}
			}
			if diff := cmp.Diff(got, c.want, cmp.AllowUnexported(Finding{})); diff != "" {
				t.Errorf("comparison (-got +want):\n%s", diff)
			}
		})
	}
}

// TestCompareLeavesAlone: comparing changes neither of the two.
func TestCompareLeavesAlone(t *testing.T) {
	old, m := matrixSample(), matrixSample()
	old.Settings.Parts = []string{"explore"}
	before, now := encoded(t, old), encoded(t, m)
	CompareMatrices(old, m)
	if !bytes.Equal(before, encoded(t, old)) || !bytes.Equal(now, encoded(t, m)) {
		t.Error("comparing changed what was compared")
	}
}

func TestTerminalMatrixComparison(t *testing.T) {
	c := CompareMatrices(oneCell(checker.Held, true), oneCell(checker.Broken, true))
	c.Better = CompareMatrices(oneCell(checker.Untested, true), oneCell(checker.Held, true)).Better
	c.New, c.Gone, c.Notes = []string{"design a/b"}, []string{"design c/d"}, []string{"not compared, since it was not run: live"}
	var buf bytes.Buffer
	for _, c := range []MatrixComparison{c, {}, {Exit: Inconclusive}} {
		c.With = "saved.json"
		if err := Write(&buf, Text, &c, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "compared.txt", buf.Bytes())
}
