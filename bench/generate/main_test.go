package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// TestCheckFindsTheViolations judges generated histories: the requested violations are
// found, and no others.
func TestCheckFindsTheViolations(t *testing.T) {
	for _, c := range []struct {
		args string
		want int64
	}{
		{"-ops 5000 -violations 3 -seed 5", 3},
		{"-ops 5000 -violations 3 -seed 6 -unknown 0.3", 3},
		{"-ops 5000 -format jsonl", 0},
	} {
		t.Run(c.args, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history")
			var said strings.Builder
			if err := run(&said, io.Discard, append(strings.Fields(c.args), path)); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(said.String(), "clients "); int64(got) != c.want {
				t.Errorf("it names %d violations, want %d:\n%s", got, c.want, said.String())
			}
			src, err := history.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer src.(io.Closer).Close()
			r, err := checker.Check(src)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Find(lockbench.Exclusion.At(0)); got.Violations != c.want {
				t.Errorf("found %d violations, want %d", got.Violations, c.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	for _, c := range []struct{ args, want string }{
		{"", "0 files given; hint: generate FILE"},
		{"-ops x " + path, `invalid value "x"`},
		{"-ops 10 -violations 3 " + path, "3 violations do not fit into 10 operations; hint: "},
		{"-format xml " + path, `unknown format "xml"; hint: `},
		{filepath.Join(path, "in", "none"), "no such file or directory"},
	} {
		t.Run(c.want, func(t *testing.T) {
			err := run(io.Discard, io.Discard, strings.Fields(c.args))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("it left a file")
			}
		})
	}
}
