//go:build unix

package ui

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// terminal is a terminal with a screen that only the test reads.
type terminal struct {
	*os.File          // the program's side
	user     *os.File // the user's side
	mu       sync.Mutex
	written  strings.Builder
	more     chan struct{} // takes a token when more was written
	drained  chan struct{} // closed when the terminal is gone
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	user, file, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal to be had: %v", err)
	}
	tty := &terminal{File: file, user: user, more: make(chan struct{}, 1), drained: make(chan struct{})}
	if err := pty.Setsize(user, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(tty.drained)
		buffer := make([]byte, 4096)
		for {
			n, err := user.Read(buffer)
			if err != nil {
				return
			}
			tty.mu.Lock()
			tty.written.Write(buffer[:n])
			tty.mu.Unlock()
			select {
			case tty.more <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() {
		_ = file.Close()
		_ = user.Close()
		<-tty.drained
	})
	return tty
}

// await returns when a text was written.
func (tty *terminal) await(t *testing.T, text string) {
	t.Helper()
	tooLong := time.After(time.Minute)
	for {
		tty.mu.Lock()
		seen := tty.written.String()
		tty.mu.Unlock()
		if strings.Contains(seen, text) {
			return
		}
		select {
		case <-tty.more:
		case <-tooLong:
			t.Fatalf("no %q in %q", text, seen)
		}
	}
}

// TestScreen opens a view on a real terminal: it shows the state, reads a key, and
// leaves the terminal restored, and no goroutine (TestMain).
func TestScreen(t *testing.T) {
	tty := openTerminal(t)
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{})
	s := Open(tty.File, tty.File, func() Session { return sessions()["running"] }, func() { close(asked) })
	tty.await(t, "lua-token/token")
	if _, err := io.WriteString(tty.user, "xq"); err != nil {
		t.Fatal(err)
	}
	<-asked
	tty.await(t, "ending the run in good order")
	for range 2 { // closing again does nothing
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	tty.await(t, "\x1b[?1049l") // back to the earlier screen
	after, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if *before != *after {
		t.Errorf("state of the terminal: got %v, want %v", *after, *before)
	}
}

// TestScreenWithoutKeys opens and closes a view at once, without a keyboard.
func TestScreenWithoutKeys(t *testing.T) {
	tty := openTerminal(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, in := range []*os.File{nil, null} {
		if err := Open(tty.File, in, func() Session { return Session{} }, func() { t.Error("interrupted") }).Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCan(t *testing.T) {
	tty := openTerminal(t)
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name, term string
		out        *os.File
		want       bool
	}{
		{"a terminal", "xterm", tty.File, true},
		{"one that cannot be drawn on", "dumb", tty.File, false},
		{"a file", "xterm", file, false},
		{"nothing", "xterm", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TERM", c.term)
			if err := Can(c.out); (err == nil) != c.want {
				t.Errorf("got %v, want it to be possible: %v", err, c.want)
			}
		})
	}
}
