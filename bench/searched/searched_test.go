package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/synthetic"
)

func TestPorcupineIsAskedTheRightThing(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*synthetic.Config)
		want   string // part of the output, or of the error
	}{
		{"sound", func(*synthetic.Config) {}, "Ok"},
		{"two owners", func(c *synthetic.Config) { c.Violations = 1 }, "Illegal"},
		{"two keys", func(c *synthetic.Config) { c.Keys = 2 }, "hint: bench/generate -keys 1"},
		{"unknown outcomes", func(c *synthetic.Config) { c.Unknown = 0.02 }, "Ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := synthetic.Usual()
			o.Ops, o.Keys, o.Clients, o.Unknown = 400, 1, 6, 0
			c.change(&o)
			var said strings.Builder
			if err := run(&said, []string{saved(t, o)}); err != nil {
				said.WriteString(err.Error())
			}
			if got := said.String(); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestReleaseOfNobodyKnowsWhat: the release of a grant without an answer ends no other
// grant.
func TestReleaseOfNobodyKnowsWhat(t *testing.T) {
	h := holds{ends: map[int64]int{}}
	for _, op := range []history.Op{
		{Kind: history.Acquire, Hold: 1, Outcome: history.OK, Call: 1, Return: 2, Granted: 10},
		{Kind: history.Acquire, Hold: 2, Outcome: history.Unknown, Call: 20, Return: history.Never},
		{Kind: history.Release, Hold: 2, Outcome: history.OK, Call: 30, Return: 31},
		{Kind: history.Extend, Hold: 2, Outcome: history.OK, Call: 32, Return: 33, Granted: 10},
	} {
		if err := h.add(&op); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.ops[0]; got.Input != (act{1, true, false}) || got.Call != 1 {
		t.Errorf("the first grant became %+v", got)
	}
}

// saved writes the history to a file and returns its path.
func saved(t *testing.T, o synthetic.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.lbh")
	if _, err := synthetic.Save(path, o, history.NewWriter); err != nil {
		t.Fatal(err)
	}
	return path
}
