package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestActionRuns runs the script of the GitHub action's step as a runner would.
func TestActionRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not in PATH")
	}
	t.Parallel()
	var action struct {
		Runs struct {
			Using string
			Steps []struct{ ID, Run string }
		}
	}
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	script := ""
	for _, step := range action.Runs.Steps {
		if step.ID == "run" {
			script = step.Run
		}
	}
	if script == "" {
		t.Fatal("no step run")
	}
	for _, c := range []struct{ name, scenario, args, says string }{
		{"args", "", "--design lua-token/tokn --workload 'mutex'", `unknown design "lua-token/tokn"`},
		{"no args", "none.yaml", "", "open none.yaml"},
		{"blank args", "none.yaml", " \n ", "open none.yaml"},
		{"an open quote", "none.yaml", "--design 'lua-token", "its quotes do not match"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "GITHUB_OUTPUT="+filepath.Join(dir, "outputs"),
				"SCENARIO="+c.scenario, "ARGS="+c.args, "OUTPUTS=json junit", "RESULTS=results")
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != exitUsage || !strings.Contains(string(out), c.says) {
				t.Errorf("exit code: got %d, want %d and %q\n%s", got, exitUsage, c.says, out)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "outputs")); err != nil || string(got) != "exit-code=2\n" {
				t.Errorf("outputs: got %q, %v", got, err)
			}
		})
	}
}
