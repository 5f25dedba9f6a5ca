package alternating

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// plan returns a plan of some operations on the embedded server.
func plan(t *testing.T, names ...string) Plan {
	t.Helper()
	t.Setenv("PATH", "")
	p := Plan{Rounds: 3, Save: filepath.Join(t.TempDir(), "saved")}
	for i, name := range names {
		found, err := impls.Match(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Sides[i] = runner.Subject{Design: found[0]}
	}
	p.Settings = runner.Plan{Workload: workloads.Must("mutex"), Options: workloads.Defaults(), History: t.TempDir()}
	p.Settings.Options.Keys, p.Settings.Options.Duration, p.Settings.Options.Operations, p.Settings.Options.TTL = 2, 0, 40, time.Minute
	return p
}

func session(t *testing.T, p Plan) *Session {
	t.Helper()
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// saved returns the files in the directory of results.
func saved(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// TestResume checks that each result is saved as soon as its run is over, and that a second session
// makes only the missing runs.
func TestResume(t *testing.T) {
	p := plan(t, "lua-token/strategy", "lua-token/token")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var early [][]string
	base, changed, err := session(t, p).Run(ctx, runner.Sink{Begin: func(of runner.Subject, _ func() runner.Progress) {
		if early = append(early, saved(t, p.Save)); of.Variant == "base-02" {
			stop()
		}
	}})
	if err != nil {
		t.Error(err)
	}
	want := [][]string{nil, {"base-01.json"}, {"base-01.json", "new-01.json"}, {"base-01.json", "new-01.json", "new-02.json"}}
	if diff := cmp.Diff(want, early); diff != "" {
		t.Errorf("saved files when each run began (-want +got):\n%s", diff)
	}
	if n := len(base) + len(changed); n < 3 || n == 6 {
		t.Errorf("%d results of an interrupted session", n)
	}
	p.Resume = true
	s := session(t, p)
	if s.Runs() != 3 {
		t.Errorf("%d runs to be made, want 3", s.Runs())
	}
	base, changed, err = s.Run(t.Context(), runner.Sink{})
	if err != nil || len(base) != 3 || len(changed) != 3 {
		t.Errorf("%d and %d results, error %v; want 3 of each", len(base), len(changed), err)
	}
	for side, all := range map[string]int{"lua-token/strategy": len(base), "lua-token/token": len(changed)} {
		if all == 0 {
			t.Errorf("nothing of %s", side)
		}
	}
	if s := session(t, p); s.Runs() != 0 {
		t.Errorf("%d runs to make, although all results are saved", s.Runs())
	} else if base, changed, err := s.Run(t.Context(), runner.Sink{}); err != nil || len(base) != 3 || len(changed) != 3 {
		t.Errorf("%d and %d results, error %v", len(base), len(changed), err)
	}
}

// TestResumeRefuses checks that Resume refuses results of another design, and damaged ones.
func TestResumeRefuses(t *testing.T) {
	p := plan(t, "lua-token/strategy", "lua-token/token")
	p.Rounds, p.Resume = 1, true
	if _, _, err := session(t, p).Run(t.Context(), runner.Sink{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(p.Save, "base-01.json"))
	if err != nil || !json.Valid(text) {
		t.Fatal(err, string(text))
	}
	for want, content := range map[string][]byte{"is not of one run of lua-token/token": text, "cut short": text[:len(text)/2]} {
		if err := os.WriteFile(filepath.Join(p.Save, "new-01.json"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
