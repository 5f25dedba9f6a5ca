package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/reports"
)

// TestExpectCatchesABrokenDesign breaks a design on purpose, by a lockbench that is built
// with another release script, and holds it to the matrix of the one that is not.
func TestExpectCatchesABrokenDesign(t *testing.T) {
	if testing.Short() {
		t.Skip("builds lockbench")
	}
	dir := t.TempDir()
	saved := filepath.Join(dir, "sound.json")
	args := []string{"matrix", "-q", "lua-token/strategy", "--drivers", "explore", "--schedules", "300"}
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
	if code := cmd.ProcessState.ExitCode(); code != reports.BrokenClaim {
		t.Errorf("exit code: got %d, want %d", code, reports.BrokenClaim)
	}
	for _, want := range []string{
		"worse   lua-token/strategy exclusion: held -> broken, though claimed",
		"worse   lua-token/strategy owner-release: held -> broken, though claimed",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// buildWith builds lockbench with another text in place of a file's.
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

func TestLiveFitting(t *testing.T) {
	for _, c := range []struct {
		budget  time.Duration
		designs int
		want    int
	}{
		{time.Second, 2, 0},
		{10 * time.Second, 2, 0},
		{12 * time.Second, 2, 1},
		{5 * time.Minute, 20, 2},
		{6 * time.Minute, 20, 3},
		{8 * time.Minute, 20, 4},
		{time.Hour, 2, 4},
	} {
		if got := len(liveFitting(c.budget, c.designs)); got != c.want {
			t.Errorf("%v for %d designs: got %d parts, want %d", c.budget, c.designs, got, c.want)
		}
	}
}
