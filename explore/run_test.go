package explore_test

import (
	"testing"

	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/explore/bubble"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
)

func find(t testing.TB, name string) design.Design {
	t.Helper()
	all, err := impls.Match(name)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func TestRunsEndToEnd(t *testing.T) {
	r, err := explore.Run(t.Context(), bubble.New(t), explore.Config{
		Design: find(t, "lua-token/strategy"), Strategy: explore.Random, Schedules: 3000,
	}, func(p explore.Progress) { t.Log(p) })
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Coverage, r.Grants, r.Elapsed, r.Defects)
	for _, f := range r.Findings {
		t.Logf("%-20s %-9s exp %d viol %d %s", f.Guarantee, f.Verdict, f.Exposure, f.Violations, f.Note)
	}
}
