package known

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/measure/runinfo"
	"github.com/lockbench/lockbench/results"
)

var update = flag.Bool("update", false, "write released.jsonl anew, from docs/matrix.json")

// TestReleased checks that the embedded findings are the findings of the released matrix.
func TestReleased(t *testing.T) {
	f, err := os.Open("../../../docs/matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := results.ReadAs[*results.Matrix](f)
	if err != nil {
		t.Fatal(err)
	}
	want, err := condense(m)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("released.jsonl", want, 0o644); err != nil {
			t.Fatal(err)
		}
		released = want
	}
	for i := range m.Rows {
		design := m.Rows[i].Design
		r := row(design)
		if r == nil || r.Design != design {
			t.Errorf("%s: no row is found", design)
			continue
		}
		if first := &r.Parts[0]; first.Name != "live" || first.Explored() || first.GrantsPerS == 0 {
			t.Errorf("%s: the first part is %q with %v grants/s, want the live run", design, first.Name, first.GrantsPerS)
		}
	}
	if !bytes.Equal(bytes.TrimSpace(released), bytes.TrimSpace(want)) {
		t.Error("released.jsonl is not that of docs/matrix.json; hint: go test ./internal/evidence/known -run TestReleased -update")
	}
}

// redis7 is the server of the rows below.
var redis7 = runinfo.Server{Kind: "private", Version: "redis 7.0.15"}

// TestForeignAndStaleIsNotKnown checks that nothing is known of a version of the design or of the
// server that the matrix does not have.
func TestForeignAndStaleIsNotKnown(t *testing.T) {
	const design = "setnx-getset/naive"
	found := func(f checker.Finding) results.Cells {
		return results.NewCells(map[lockbench.Cell]results.Finding{lockbench.Exclusion.At(0): {Finding: f}})
	}
	live := results.Part{Name: "live", Command: "lockbench run", Run: results.Run{Cells: found(checker.Finding{Verdict: checker.Broken, Exposure: 10, Violations: 3})}}
	live.Server = &redis7
	explored := results.Part{Name: "explore", Command: "lockbench explore", Run: results.Run{Cells: found(checker.Finding{Verdict: checker.Held, Exposure: 400})}}
	explored.Exploration = &results.Exploration{}
	r := &results.MatrixRow{Design: design, Version: impls.Version(design), Parts: results.Parts{live, explored}}
	for _, c := range []struct {
		name    string
		on      string
		verdict checker.Verdict
		command string
	}{
		{"the same server", redis7.Version, checker.Broken, "lockbench run"},
		{"another version: what was explored alone", "redis 8.2.1", checker.Held, "lockbench explore"},
	} {
		got := onServer(r, runinfo.Server{Kind: "external", Version: c.on})
		at := got.Parts.Together(false).At(lockbench.Exclusion.At(0))
		if at.Verdict != c.verdict || got.Parts.Shows(lockbench.Exclusion.At(0)) != c.command {
			t.Errorf("%s: got %+v of %+v, want %v", c.name, at, got.Parts, c.verdict)
		}
	}
	r.Parts = r.Parts[:1]
	if got := onServer(r, runinfo.Server{Version: "valkey 8.0"}); got.Missing == "" {
		t.Errorf("a live part alone, another server: got %+v, want nothing known", got)
	}
	if got := Of("nobody/knows", redis7); got != nil {
		t.Errorf("no design of the catalogue: got %+v, want nil", got)
	}
}
