package runner

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/results"
)

// TestUnseenDeletions: a broken claim may come of deletions by others, where there are others.
func TestUnseenDeletions(t *testing.T) {
	own := servertest.Start(t)
	users, err := servers.Connect(t.Context(), own.Address())
	if err != nil {
		t.Fatal(err)
	}
	found, err := impls.Match("lua-token/strategy")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		on      design.Service
		against int64
		notes   int
	}{
		{"broken, the user's server", users, 1, 1},
		{"held, the user's server", users, 0, 0},
		{"broken, a server of its own", own, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session{services: services{servers.BackendOf(&found[0]).Name(): backend.Group{c.on}}}
			var j results.Judged
			j.Verdicts.Findings = []checker.CellFinding{{Finding: checker.Finding{Against: c.against}}}
			if got := s.unseen(Subject{Design: found[0]}, &j); len(got) != c.notes {
				t.Errorf("got %q, want %d notes", got, c.notes)
			}
		})
	}
}
