package evidence

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/evidence/conclusion"
	"github.com/lockbench/lockbench/internal/evidence/known"
	"github.com/lockbench/lockbench/results"
)

// TestMatrixConcludesAsRunsDo checks that equal findings give the same conclusion in a matrix and
// in a run, and that cells held in a part without a caught self-check do not count.
func TestMatrixConcludesAsRunsDo(t *testing.T) {
	stuck := results.NewCells(map[lockbench.Cell]results.Finding{lockbench.Recovery.At(lockbench.Crash): {Finding: checker.Finding{Verdict: checker.Broken, Exposure: 9, Violations: 1}}})
	late := results.NewCells(map[lockbench.Cell]results.Finding{lockbench.Exclusion.At(lockbench.Outlived): {Finding: checker.Finding{Verdict: checker.Broken, Exposure: 9, Violations: 1}}})
	stopped := results.NewCells(map[lockbench.Cell]results.Finding{lockbench.Effects.At(0): {Finding: checker.Finding{Verdict: checker.Held, Exposure: conclusion.Enough}}})
	for _, c := range []struct {
		name          string
		cells, behind results.Cells
		caught        bool
		want          conclusion.Word
	}{
		{"a stuck key", stuck, results.Cells{}, true, conclusion.DoNotUse},
		{"a stuck key, which needs no proof", stuck, results.Cells{}, false, conclusion.DoNotUse},
		{"a late owner, and a guard stops it", late, stopped, true, conclusion.NeedsGuard},
		{"a late owner, and no proof that a guard stops it", late, stopped, false, conclusion.NotWithoutGuard},
		{"nothing broke, and little was tried", results.Cells{}, results.Cells{}, true, conclusion.NotKnown},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := matrixOf("lua-token/strategy", c.cells, c.behind, c.caught)
			ConcludeMatrix(m, designs(t, "lua-token/strategy"))
			got := m.Rows[0].Conclusion
			if got == nil || got.Word != c.want {
				t.Fatalf("matrix: got %+v, want %q", got, c.want)
			}
			if !c.caught {
				return // a run has no part that is left out
			}
			r := live("lua-token/strategy")
			r.Runs[0].Cells = c.cells
			request(t, Options{}).Conclude(r, designs(t, "lua-token/strategy"), Searches{"lua-token/strategy": {Parts: results.Parts{behind(results.Part{Run: results.Run{Cells: c.behind}})}}})
			if of := r.Runs[0].Conclusion; of == nil || of.Word != got.Word || of.Why != got.Why || of.Cell != got.Cell {
				t.Errorf("run: got %+v, want as of the matrix %+v", of, got)
			}
		})
	}
}

// matrixOf returns a matrix of one design and one live part.
func matrixOf(design string, cells, guarded results.Cells, caught bool) *results.Matrix {
	m := &results.Matrix{Settings: results.MatrixSettings{Parts: []string{"live", "live guard"}}, Rows: []results.MatrixRow{{Design: design}}}
	part := func(name string, must lockbench.Cell, cells results.Cells) results.Part {
		p := results.Part{Name: name, Complete: true, MustBreak: must, Run: results.Run{Cells: cells}}
		p.Counts.Grants = 9
		return p
	}
	m.Rows[0].Add(part("live", lockbench.Cell{}, cells))
	m.Rows[0].Add(behind(part("live guard", lockbench.Cell{}, guarded)))
	must := lockbench.OwnerRelease.At(lockbench.Outlived)
	for _, name := range m.Settings.Parts {
		var shown results.Cells
		if caught {
			shown.Set(must, results.Finding{Finding: checker.Finding{Verdict: checker.Broken, Violations: 1}})
		}
		m.SelfCheck.Add(part(name, must, shown))
	}
	m.Settle()
	return m
}

// behind returns p with a guard in its store.
func behind(p results.Part) results.Part {
	p.Params = map[string]any{"guard": "cas"}
	return p
}

// TestSavedMatrixConcludes checks that docs/matrix.json has the conclusions of the present
// rule, and that the findings built into the program give the same.
func TestSavedMatrixConcludes(t *testing.T) {
	f, err := os.Open("../../docs/matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := results.ReadAs[*results.Matrix](f)
	if err != nil {
		t.Fatal(err)
	}
	saved := map[string]*conclusion.Conclusion{}
	for i := range m.Rows {
		saved[m.Rows[i].Design] = m.Rows[i].Conclusion
	}
	ConcludeMatrix(m, impls.All())
	for i := range m.Rows {
		name, got := m.Rows[i].Design, m.Rows[i].Conclusion
		if diff := cmp.Diff(got, saved[name]); diff != "" {
			t.Errorf("%s; hint: lockbench matrix --resume docs/matrix.json --out json=docs/matrix.json (-rule +file):\n%s", name, diff)
		}
		lock := Lock(designs(t, name)[0])
		lock.Foreign |= lockbench.ThreadDeath
		row, is := known.Released(name)
		if !is {
			continue // the row is of another version of the design
		}
		if want := conclusion.Draw(lock, conclusion.Usual(), row.Parts.Evidence(conclusion.Known, &lockbench.Claims{})...); got.Word != want.Word || got.Late != want.Late {
			t.Errorf("%s: the matrix says %q, and what is known of it %q", name, got.Word, want.Word)
		}
	}
}
