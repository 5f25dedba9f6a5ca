//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/synthetic"
	"github.com/lockbench/lockbench/results"
)

// TestInterrupt ends a run by a signal in its first design: the measurements so far are reported,
// the other design is named as not run, and the command exits 3.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ready := func(line string) bool {
				return strings.HasPrefix(line, "server:") && grown(t, filepath.Join(dir, "lua-token-token.lbh"))
			}
			out, code := interrupted(t, sig, ready, "run", "--design", "lua-token/token,lua-token/strategy",
				"--duration", "10m", "--wait", "5ms", "--history", dir)
			if code != 3 {
				t.Errorf("exit code: got %d, want 3", code)
			}
			for _, want := range []string{"not run lua-token/strategy", "lua-token/token", "1 design not run"} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in the report:\n%s", want, out)
				}
			}
			checked, _ := exec.Command("lockbench", "check", filepath.Join(dir, "lua-token-token.lbh")).Output()
			if !strings.Contains(string(checked), "lua-token/token") || strings.Contains(string(checked), "partial") {
				t.Errorf("the history is not whole:\n%s", checked)
			}
		})
	}
}

// TestInterruptLimit ends a search by a signal in its second trial, which then does not count: a
// trial cut short is no reason to say that the lease was too short.
func TestInterruptLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("makes runs")
	}
	t.Parallel()
	dir := t.TempDir()
	ready := func(line string) bool {
		return strings.HasPrefix(line, "[2]") && grown(t, filepath.Join(dir, "lua-token-strategy-10s--trial-2-.lbh"))
	}
	out, code := interrupted(t, syscall.SIGINT, ready, "limit", "ttl", "lua-token/strategy", "--hold", "100ms", "--clients", "32",
		"--risk", "0.003", "--ttl", "20s", "--wait", "20s", "--history", dir, "--out", "json=-")
	if code != 3 {
		t.Errorf("exit code: got %d, want 3", code)
	}
	if got := strings.Count(out, `"outcome":`); got != 1 || strings.Contains(out, "unable") || !strings.Contains(out, `"unfinished": true`) {
		t.Errorf("%d trials, want the one that was not interrupted and an unfinished search:\n%s", got, out)
	}
}

// TestInterruptExplore ends an exploration by a signal: the findings so far are reported, the
// remaining scenarios are named as not run, and a claim broken so far decides the exit code.
func TestInterruptExplore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, claims, ready string
		exit                int
		wants               []string
	}{
		{"nothing claimed", "nothing", "[1/1] lua-token/expire", results.Inconclusive, []string{" not run"}},
		{"a claim broken", "owner-release", "owner-release@outlived is broken", results.BrokenClaim, []string{
			"lua-token/expire broke owner-release@outlived", "believes it holds", "ended by interruption",
		}},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT} {
			t.Run(c.name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				ready := func(line string) bool { return strings.Contains(line, c.ready) }
				out, code := interrupted(t, sig, ready, "explore", "lua-token/expire", "--scenario", "stale-release,contend",
					"--clients", "4", "--rounds", "5", "--faults", "3", "--budget", "10m", "--claims", c.claims)
				if code != c.exit {
					t.Errorf("exit code: got %d, want %d", code, c.exit)
				}
				for _, want := range append(c.wants, "not run lua-token/expire", "lua-token/expire contend") {
					if !strings.Contains(out, want) {
						t.Errorf("no %q in the report:\n%s", want, out)
					}
				}
			})
		}
	}
}

// started starts lockbench on the embedded server, and returns its standard error.
func started(t *testing.T, stdout io.Writer, args ...string) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	path, err := exec.LookPath("lockbench")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), noServer, "PATH="+filepath.Dir(path))
	cmd.Stdout = stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, stderr
}

// interrupted runs lockbench on the embedded server, signals it once a line of its progress is
// ready, and returns its standard output and exit code.
func interrupted(t *testing.T, sig os.Signal, ready func(line string) bool, args ...string) (string, int) {
	t.Helper()
	var stdout bytes.Buffer
	cmd, stderr := started(t, &stdout, args...)
	for lines := bufio.NewScanner(stderr); lines.Scan() && !ready(lines.Text()); {
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	var exited *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// grown waits until a file has some blocks of operations.
func grown(t *testing.T, path string) bool {
	t.Helper()
	for range 3000 {
		if info, err := os.Stat(path); err == nil && info.Size() > 10_000 {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s does not grow", path)
	return false
}

// TestInterruptMatrix ends a matrix by a signal once one part is done: the findings are in the
// file, the missing parts are named, and --resume does those alone.
func TestInterruptMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("explores several designs")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "m.json")
	ready := func(line string) bool { return strings.HasPrefix(line, "[1/") }
	schedules := longtest.Times(100, 300)
	out, code := interrupted(t, syscall.SIGINT, ready, "matrix", "lua-token/[efos]*", "--drivers", "explore", "--schedules", strconv.Itoa(schedules), "--out", "json="+file)
	if code != 3 {
		t.Errorf("exit code: got %d, want 3", code)
	}
	for _, want := range []string{"not run, such as lua-token/", "(exit 3)"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in the report:\n%s", want, out)
		}
	}
	resumed, err := exec.Command("lockbench", "matrix", "--resume", file).CombinedOutput()
	if err != nil {
		t.Errorf("resumed: %v\n%s", err, resumed)
	}
	want := "explore: " + figures.Number(int64(4*schedules)) + " schedules"
	if text := string(resumed); strings.Contains(text, "/5] explore") || !strings.Contains(text, want) {
		t.Errorf("resumed: want what was missing to be done, and no more:\n%s", text)
	}
}

// TestHangUp closes the terminal of a run: SIGHUP, twice as from a shell, and nobody reads its
// output. The run ends in good order and writes its file.
func TestHangUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "result.json")
	cmd, stderr := started(t, io.Discard, "run", "--design", "lua-token/token", "--duration", "10m", "--wait", "5ms", "--explore", "0s", "--history", dir, "--out", "json="+file)
	for lines := bufio.NewScanner(stderr); lines.Scan() && !strings.HasPrefix(lines.Text(), "server:"); {
	}
	grown(t, filepath.Join(dir, "lua-token-token.lbh"))
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code: got %d, want 3", code)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"ended": "interrupted"`) {
		t.Errorf("got error %v and no interrupted run in the file:\n%.2000s", err, text)
	}
}

// TestInterruptAtOnce interrupts a command that drives no locks, in the middle of a write that
// waits for its reader: it ends at once.
func TestInterruptAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "long.lbh")
	c := synthetic.Usual()
	c.Ops = 20_000 // more than a pipe holds, in JSON Lines
	if _, err := synthetic.Save(file, c, history.NewWriter); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd, stderr := started(t, w, "history", file)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stderr)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code: got %d, want %d", code, exitInterrupted)
	}
}
