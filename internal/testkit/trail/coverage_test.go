package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `package p

func once() { each() }

func each() {
	func() {
		_ = 0
	}()
}

func (t *T[K]) less() {
	_ = 0
}
`

// TestGrown checks that the functions that ran for each further iteration are found, by a block
// of theirs or of a literal in them, and no others.
func TestGrown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	var profiles [2][]block
	for i, counts := range [][]any{{1, 10, 7}, {1, 20, 15}} {
		const place = module + "/p/p.go"
		text := fmt.Sprintf("mode: atomic\n"+place+":3.1,3.23 1 %d\n"+place+":6.9,8.3 1 %d\n"+place+":11.23,13.2 1 %d\n", counts...)
		var err error
		if profiles[i], err = parse(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range map[int64][]string{10: {"each"}, 8: {"each", "T.less"}} {
		got, err := functionsOf(grown(profiles[0], profiles[1], n), func(string) string { return file })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, map[string][]string{"p/p.go": want}); diff != "" {
			t.Errorf("%d more iterations: functions (-got +want):\n%s", n, diff)
		}
	}
}

// TestTornProfile checks that a torn profile is an error.
func TestTornProfile(t *testing.T) {
	if _, err := parse(strings.NewReader("mode: atomic\nx.go:1.2,3.4 5\n")); err == nil || !strings.Contains(err.Error(), "want file:line") {
		t.Errorf("got %v, want an error that names the form", err)
	}
}
