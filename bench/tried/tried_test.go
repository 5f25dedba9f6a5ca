package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locktest"
)

func TestFind(t *testing.T) {
	for name, want := range map[string]bool{"plain-del": true, "full": true, "no-such": false} {
		if d, err := find(name); (err == nil) != want || want && d.Name == "" {
			t.Errorf("%s: got %q, %v, want it found: %t", name, d.Name, err, want)
		}
	}
}

func TestRunComplains(t *testing.T) {
	err := run(t.Context(), &bytes.Buffer{}, []string{"dir"})
	if err == nil || !strings.Contains(err.Error(), "hint: tried DIR LOCK LOCK") {
		t.Errorf("got %v, want a hint", err)
	}
}

func TestKeepBroken(t *testing.T) {
	dir := t.TempDir()
	cells := map[checker.Verdict]lockbench.Cell{
		checker.Broken: lockbench.Exclusion.At(0), checker.Held: lockbench.LeaseKept.At(0), checker.Untested: lockbench.Recovery.At(0),
	}
	trial := locktest.Result{Cells: checker.Cells{}, Tests: map[lockbench.Cell]locktest.Test{}}
	for v, cell := range cells {
		path := filepath.Join(dir, v.String()+".lbh")
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		trial.Cells[cell], trial.Tests[cell] = checker.Finding{Verdict: v}, locktest.Test{History: path}
	}
	if err := keepBroken(dir, trial); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(left, []string{trial.Tests[cells[checker.Broken]].History}); diff != "" {
		t.Errorf("left (-got +want):\n%s", diff)
	}
}
