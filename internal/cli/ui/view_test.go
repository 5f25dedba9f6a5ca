package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/internal/measure/series"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const title = "oversell · 32 clients · 12 keys · lease 2s · hold exp:1ms · wait 250ms · fault crash,p=0.003"

// rising are 300 grants in the first second, 600 in the next and so on, for three of them.
func rising() (c series.Counts) {
	for i := range int64(300) {
		c.Add(i*10_000_000, 3*(1+i/100))
	}
	return c
}

// sessions are views worth a look, by the names of their golden files.
func sessions() map[string]Session {
	running := Run{
		Design: "lua-token/token", Elapsed: 2987 * time.Millisecond, Length: 5 * time.Second,
		Grants: 1793, Refused: 1204, Failed: 3, Rate: rising(),
		Acquire: Latency{Count: 1711, P50: 81_000, P90: 206_000, P99: 31e6, P999: 221e6, Max: 251e6},
		Breaches: []Breach{
			{Guarantee: "owner-release", Count: 12, First: 1204 * time.Millisecond, Key: "key-0003"},
			{Guarantee: "loss-reported", Claimed: true, Count: 1402, First: 1302 * time.Millisecond, Key: "key-0007"},
		},
		Faults: []Occurrences{{"death", 14}, {"lost-reply", 1203}},
	}
	done := []Outcome{
		{"setnx-getset/naive", 4882.4, 43e6, Broken, "CLAIM BROKEN: recovery; not claimed, broken: exclusion"},
		{"hash-reentrant/watchdog", 5487, 10e6, Kept, "claims held"},
		{"watch-multi/poll", 0, 0, Undecided, "inconclusive: the server is gone"},
	}
	var many []Outcome
	for i := range 40 {
		many = append(many, Outcome{fmt.Sprintf("family/variant-%d", i), 100, 1e6, Kept, "claims held"})
	}
	return map[string]Session{
		"starting":   {Title: title, Designs: 4},
		"setting-up": {Title: title, Designs: 4, Current: Run{Design: "lua-token/token"}, Notes: []string{"server: private, redis 7.0.15"}},
		"running":    {Title: title, Designs: 4, Done: done, Current: running, Notes: []string{"one", "two", "three", "four"}},
		"operations": {Title: title, Current: Run{Design: "a/b", Elapsed: 90 * time.Second, Grants: 12}},
		"over":       {Title: title, Designs: 1, Current: Run{Design: "a/b", Elapsed: 6 * time.Second, Length: 5 * time.Second, Grants: 5000}},
		"many":       {Title: title, Designs: 41, Done: many, Current: running},
		"done":       {Title: title, Designs: 3, Done: done, Notes: []string{"self-check: a lock that is broken on purpose, under the same settings ..."}},
	}
}

// modelAfter returns a model that has received the messages.
func modelAfter(t *testing.T, messages ...tea.Msg) tea.Model {
	t.Helper()
	var m tea.Model = newModel(func() {})
	for _, msg := range messages {
		m, _ = m.Update(msg)
	}
	return m
}

// TestView draws every session on a narrow and on a wide terminal.
func TestView(t *testing.T) {
	for name, s := range sessions() {
		for _, width := range []int{60, 120} {
			file := fmt.Sprintf("%s-%d.golden", name, width)
			t.Run(file, func(t *testing.T) {
				view := modelAfter(t, tea.WindowSizeMsg{Width: width, Height: 24}, s).View()
				golden(t, file, ansi.Strip(view.Content)+"\n")
				if !view.AltScreen {
					t.Error("it is drawn over what was on the terminal before")
				}
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, strings.ReplaceAll(string(want), "\r\n", "\n")); diff != "" {
		t.Errorf("-update writes it anew (-got +want):\n%s", diff)
	}
}

// TestViewFits resizes the terminal, from nearly nothing to plenty: nothing is wider or higher, and
// the view always ends with the key to leave.
func TestViewFits(t *testing.T) {
	for name, s := range sessions() {
		for _, width := range []int{1, 8, 20, 40, 59, 61, 89, 90, 130} {
			for _, height := range []int{1, 2, 3, 6, 9, 12, 15, 18, 24, 50} {
				view := modelAfter(t, s, tea.WindowSizeMsg{Width: width, Height: height}).View().Content
				lines := strings.Split(view, "\n")
				if len(lines) > height {
					t.Fatalf("%s, %dx%d: got %d lines", name, width, height, len(lines))
				}
				for _, l := range lines {
					if w := ansi.StringWidth(l); w > width {
						t.Fatalf("%s, %dx%d: got a line of %d cells: %q", name, width, height, w, l)
					}
				}
				if last := ansi.Strip(lines[len(lines)-1]); width > 60 && !strings.HasPrefix(last, "q or Ctrl-C") {
					t.Fatalf("%s, %dx%d: it ends with %q", name, width, height, last)
				}
			}
		}
	}
}

// TestViewSignals asserts that broken claims are red, and nothing else is.
func TestViewSignals(t *testing.T) {
	view := modelAfter(t, tea.WindowSizeMsg{Width: 120, Height: 24}, sessions()["running"]).View().Content
	const red = "31"
	for _, l := range strings.Split(view, "\n") {
		isRed := strings.Contains(l, "\x1b[1;"+red+"m")
		if want := strings.Contains(l, "BROKEN"); isRed != want {
			t.Errorf("red: got %v, want %v in %q", isRed, want, l)
		}
	}
}

// TestKeys asserts that the key to leave works, once, and that an invalid size of a terminal is
// ignored.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []tea.KeyPressMsg
		want int
	}{
		{"q", []tea.KeyPressMsg{{Code: 'q', Text: "q"}}, 1},
		{"Ctrl-C", []tea.KeyPressMsg{{Code: 'c', Mod: tea.ModCtrl}}, 1},
		{"impatience", []tea.KeyPressMsg{{Code: 'c', Mod: tea.ModCtrl}, {Code: 'q', Text: "q"}}, 1},
		{"others", []tea.KeyPressMsg{{Code: 'c', Text: "c"}, {Code: tea.KeyEnter}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := 0
			var m tea.Model = newModel(func() { got++ })
			m, _ = m.Update(tea.WindowSizeMsg{})
			for _, key := range c.keys {
				next, do := m.Update(key)
				if do != nil {
					do()
				}
				m = next
			}
			if got != c.want {
				t.Errorf("interrupts: got %d, want %d", got, c.want)
			}
			if says := strings.Contains(m.View().Content, "ending the run"); says != (c.want > 0) {
				t.Errorf("it says that it ends: got %v, want %v", says, c.want > 0)
			}
		})
	}
}
