package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// notRun are the README's commands that no test runs: what .ci/run does anyway
// (the tour, the tests, the benchmark), and what needs a network or a server of
// the user's.
var notRun = []string{
	"go run ./cmd/lockbench run", "go test ./...", "go test ./checker", "bash bench/", "go install ", "lockbench run --redis ",
}

// TestReadme runs every command of the README's blocks, and every command of its
// table of bugs, in one folder, and asserts the exit codes that it names.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("LOCKBENCH_REQUIRE_SERVERS") != "1" {
		t.Skip("redis-server is not in PATH")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dir, ran := t.TempDir(), 0
	var onFiles []string // those that need what the ones before wrote
	for _, command := range readmeCommands(t) {
		switch {
		case !runs(command):
		case strings.Contains(command, "histories") || strings.Contains(command, "matrix.json"):
			ran++
			onFiles = append(onFiles, command)
		default:
			ran++
			t.Run(command, func(t *testing.T) {
				t.Parallel()
				shell(t, t.TempDir(), bin, command)
			})
		}
	}
	for _, command := range onFiles {
		shell(t, dir, bin, command)
	}
	if ran < 15 {
		t.Errorf("ran %d commands of the README, want 15 at least: has its form changed?", ran)
	}
}

var (
	block   = regexp.MustCompile("(?s)```sh\n(.*?)```")
	inTable = regexp.MustCompile("(?m)^\\|.*\\| (`lockbench .*) \\|$")
	exit    = regexp.MustCompile(`\bexit (\d)`)
)

func readmeCommands(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.Split(strings.TrimSpace(m[1]), "\n")...)
	}
	for _, m := range inTable.FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.Replace(strings.TrimPrefix(m[1], "`"), "`", "   # ", 1))
	}
	return all
}

func runs(command string) bool {
	for _, prefix := range notRun {
		if strings.HasPrefix(command, prefix) {
			return false
		}
	}
	return true
}

// exitNamed is the exit code that the command's comment names, or 0.
func exitNamed(command string) int {
	_, comment, _ := strings.Cut(command, "   # ")
	if m := exit.FindStringSubmatch(comment); m != nil {
		code, _ := strconv.Atoi(m[1])
		return code
	}
	return 0
}

// shell runs command in dir and asserts the exit code that it names.
func shell(t *testing.T, dir, bin, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "TMPDIR="+t.TempDir(), redisVariable+"=")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", command, err)
	}
	if got, want := cmd.ProcessState.ExitCode(), exitNamed(command); got != want {
		t.Errorf("%s\nexit code: got %d, want %d\n%s", command, got, want, out)
	}
}
