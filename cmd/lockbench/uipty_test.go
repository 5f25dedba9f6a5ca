//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// TestLiveViewOnATerminal runs the command on a real terminal, which is resized. After a
// key or a signal the view ends, the run ends in good order, and the report is on the
// screen that was there before.
func TestLiveViewOnATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a program")
	}
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*exec.Cmd, *os.File) error
	}{
		{"q", func(_ *exec.Cmd, tty *os.File) error { return typed(tty, "q") }},
		{"Ctrl-C", func(_ *exec.Cmd, tty *os.File) error { return typed(tty, "\x03") }},
		{"SIGTERM", func(cmd *exec.Cmd, _ *os.File) error { return cmd.Process.Signal(syscall.SIGTERM) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("lockbench", "run", "--ui", "--design", "lua-token/token,lua-token/strategy", "--clients", "8", "--keys", "4", "--hold", "20ms", "--duration", "10m")
			cmd.Env = append(os.Environ(), noServer, "PATH=", "TERM=xterm-256color")
			tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 120})
			if err != nil {
				t.Skipf("no pseudo-terminal to be had: %v", err)
			}
			defer tty.Close()
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			var seen bytes.Buffer
			until(t, tty, &seen, "grants/s now", "p99.9")
			if err := pty.Setsize(tty, &pty.Winsize{Rows: 20, Cols: 60}); err != nil {
				t.Fatal(err)
			}
			until(t, tty, &seen, "…") // the title is cut
			if err := c.end(cmd, tty); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(&seen, tty) // until the terminal is closed
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 3 {
				t.Errorf("exit code: got %d, want 3", code)
			}
			_, report, gone := strings.Cut(seen.String(), "\x1b[?1049l")
			if !gone {
				t.Fatalf("the view did not go away:\n%q", seen.String())
			}
			report = ansi.Strip(report)
			for _, want := range []string{"interrupted: ending it in good order", "[1/2] lua-token/token: ", "not run lua-token/strategy", "1 design not run", "(exit 3)"} {
				if !strings.Contains(strings.Join(strings.Fields(report), " "), strings.TrimSpace(want)) { // lines fit the terminal
					t.Errorf("no %q after the view:\n%s", want, report)
				}
			}
		})
	}
}

func typed(tty *os.File, keys string) error {
	_, err := io.WriteString(tty, keys)
	return err
}

// until reads the output of a program on its terminal until all texts were in it.
func until(t *testing.T, tty *os.File, seen *bytes.Buffer, texts ...string) {
	t.Helper()
	from := seen.Len()
	buffer := make([]byte, 4096)
	for {
		n, err := tty.Read(buffer)
		seen.Write(buffer[:n])
		missing := 0
		for _, text := range texts {
			if !strings.Contains(seen.String()[from:], text) {
				missing++
			}
		}
		if missing == 0 {
			return
		}
		if err != nil {
			t.Fatalf("it ended (%v) before %q were seen:\n%s", err, texts, seen.String())
		}
	}
}

// TestErrorsFitATerminal checks that errors that list all names have no line that is wider than the
// terminal.
func TestErrorsFitATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a program")
	}
	t.Parallel()
	for _, args := range [][]string{{"run", "--design", "nosuch"}, {"run", "--claims", "exclusive"}, {"run", "--server", "redis://127.0.0.1:1/first"}} {
		cmd := exec.Command("lockbench", args...)
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 80})
		if err != nil {
			t.Skipf("no pseudo-terminal to be had: %v", err)
		}
		defer tty.Close()
		var seen bytes.Buffer
		_, _ = io.Copy(&seen, tty) // until the terminal is closed
		_ = cmd.Wait()
		text := ansi.Strip(seen.String())
		if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(text, "hint: ") {
			t.Errorf("%v: exit code %d:\n%s", args, code, text)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n"); ansi.StringWidth(line) > 80 {
				t.Errorf("%v: %d columns: %s", args, ansi.StringWidth(line), line)
			}
		}
	}
}
