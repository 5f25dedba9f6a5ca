package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/cli/matrix"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/reports"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// TestExpectCatchesABrokenDesign breaks a design on purpose, in a lockbench that is built
// with another release script, and holds it to the matrix of the sound one.
// testdata/matrix.txtar uses a made-up file in place of such a design.
func TestExpectCatchesABrokenDesign(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	saved := filepath.Join(dir, "sound.json")
	args := []string{"matrix", "-q", "lua-token/strategy", "--drivers", "explore", "--schedules", "1000"}
	if out, err := exec.Command("lockbench", append(args, "--out", "json="+saved)...).CombinedOutput(); err != nil {
		t.Fatalf("the sound one: %v\n%s", err, out)
	}
	script, err := filepath.Abs("../../impls/lua-token/release.lua")
	if err != nil {
		t.Fatal(err)
	}
	broken := buildWith(t, script, `return redis.call('DEL', KEYS[1])`)
	cmd := exec.Command(broken, append(args, "--expect", saved)...)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != results.BrokenClaim {
		t.Errorf("exit code: got %d, want %d", code, results.BrokenClaim)
	}
	for _, want := range []string{
		"worse lua-token/strategy exclusion: held -> broken, though claimed",
		"worse lua-token/strategy owner-release: held -> broken, though claimed",
	} {
		if !strings.Contains(strings.Join(strings.Fields(string(out)), " "), want) { // columns are as wide as need be
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// buildWith builds lockbench with another text for a file.
func buildWith(t *testing.T, file, text string) string {
	t.Helper()
	dir := t.TempDir()
	instead, overlay, program := filepath.Join(dir, "instead"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "lockbench")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: instead}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{instead: []byte(text), overlay: replace} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// TestLiveMatrix makes the live runs of a matrix on the embedded server, with enough
// operations to tell the sound lock from the broken one: each owner works past its lease
// for half the lease.
func TestLiveMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	t.Setenv("PATH", "")
	dir := t.TempDir()
	var stderr bytes.Buffer
	cmd := newMatrix()
	cmd.SetErr(&stderr)
	o := matrixOptions{budget: 12 * time.Second, drivers: []string{matrix.Live}, seed: 1, history: filepath.Join(dir, "kept")}
	s := o.session(cmd, found(t, "lua-token/strategy"))
	s.Files = []string{filepath.Join(dir, "m.json")}
	s.Load = workloads.Defaults()
	s.Load.Clients, s.Load.Keys, s.Load.Slow, s.Load.SlowFactor = 4, 1, 1, 1.5
	s.Load.TTL, s.Load.Wait, s.Load.Duration, s.Load.Operations = 200*time.Millisecond, time.Minute, 0, int64(longtest.Times(12, 60))
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	if err := reports.Write(&stdout, reports.Text, &s.Matrix, reports.Options{Width: 200}); err != nil {
		t.Fatal(err)
	}
	mentions(t, stderr.String(), "server: embedded", "[0/2 12s left] live: self-check/plain-del ...\n")
	mentions(t, stdout.String(), "of 1 design; a lock broken on purpose was caught (owner-release@outlived)", "\nlua-token/strategy  do not use without a guard  weak      broken\n",
		"note: the budget of 12s is too short for live faults, live failover, live skew")
	stdout.Reset()
	if exit := execute(t.Context(), []string{"explain", "lua-token/strategy", "exclusion", "--from", s.Files[0]}, &stdout, &stderr); exit != 0 {
		t.Errorf("explain: exit code %d, want 0", exit)
	}
	history := filepath.Join(o.history, "live", "lua-token-strategy.lbh")
	mentions(t, stdout.String(), "\n  live  held; 0 of ", "this history: lockbench check "+history, "all of it again: lockbench run --design lua-token/strategy --seed 1\n")
	if _, err := os.Stat(history); err != nil {
		t.Error(err)
	}
}

// found returns the designs with that name.
func found(t *testing.T, name string) []design.Design {
	t.Helper()
	d, err := exploring.FindDesign(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return []design.Design{d}
}

func mentions(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
