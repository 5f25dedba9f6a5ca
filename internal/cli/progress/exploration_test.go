package progress

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/explore/exploring"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// ofDesigns returns a plan of a number of designs and scenarios.
func ofDesigns(designs, scenarios int) exploring.Plan {
	return exploring.Plan{Designs: make([]design.Design, designs), Scenarios: make([]workloads.Program, scenarios)}
}

// TestExploreHowFar looks at what a pipe shows of an exploration that goes on for long, with a time
// limit and without one.
func TestExploreHowFar(t *testing.T) {
	for _, tt := range []struct {
		budget time.Duration
		want   string
	}{
		{30 * time.Second, "[0/1 20s left]       700 schedules, 1 broken: a/b contend\n[0/1 10s left]      1400 schedules, 1 broken: a/b contend\n"},
		{0, "[0/1 30s left]       700 schedules, 1 broken: a/b contend\n[0/1 1m0s left]      1400 schedules, 1 broken: a/b contend\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			plan := ofDesigns(1, 4)
			plan.Config.Budget = tt.budget
			var out bytes.Buffer
			shown := OfExploration(&out, false, plan)
			for i := range int64(25) {
				time.Sleep(time.Second)
				shown.Sink().SoFar("a/b", "contend", explore.Progress{Schedules: 70 * (i + 1), Broken: []lockbench.Cell{lockbench.Exclusion.At(0)}})
			}
			want := "a/b contend: exclusion is broken, after 70 schedules\n" + tt.want
			if out.String() != want {
				t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
			}
		})
	}
}

func TestExploreLines(t *testing.T) {
	searched := results.Explored{Coverage: results.Coverage{Schedules: 1200}, Judged: results.Judged{Verdicts: checker.Result{Findings: []checker.CellFinding{
		{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Verdict: checker.Broken}}, {Cell: lockbench.Exclusion.At(lockbench.Outlived), Finding: checker.Finding{Verdict: checker.Broken}},
	}}}}
	var out bytes.Buffer
	shown := OfExploration(&out, false, ofDesigns(2, 1))
	p := shown.Sink()
	p.Begin("a/b")
	p.Begin("c/d")
	for range 2 { // told again and again, it is news once
		p.SoFar("a/b", "contend", explore.Progress{Schedules: 7, Broken: []lockbench.Cell{lockbench.Exclusion.At(lockbench.Crash)}})
	}
	p.End("a/b", []results.Explored{searched, searched})
	p.Say("interrupted")
	p.End("c/d", []results.Explored{{}, {Judged: results.Judged{Header: history.Header{Workload: "wait"}, Err: errors.New("it crashed")}}})
	shown.Close()
	want := `[1/2] a/b ...
[2/2] c/d ...
a/b contend: exclusion@crash is broken, after 7 schedules
[1/2 done] a/b: 2400 schedules, broke exclusion, exclusion@outlived
interrupted
[2/2 done] c/d: wait: it crashed
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestExploreBar(t *testing.T) {
	var out bytes.Buffer
	b := newExplorationBar(&out, ofDesigns(3, 2))
	b.soFar("a/b", "contend", explore.Progress{Schedules: 7, Broken: []lockbench.Cell{lockbench.Exclusion.At(lockbench.Crash)}})
	b.soFar("a/b", "contend", explore.Progress{Schedules: 8}) // too soon to be drawn
	b.end("a/b", nil)
	b.Say("interrupted")
	b.Close()
	for _, want := range []string{"[0/3]         7 schedules, ", "1 broken: a/b contend", "8 schedules, 1 broken: a/b", "interrupted\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

func TestExploreQuiet(t *testing.T) {
	var out bytes.Buffer
	shown := OfExploration(&out, true, ofDesigns(1, 1))
	p := shown.Sink()
	p.Say("x")
	p.Begin("a/b")
	p.SoFar("a/b", "contend", explore.Progress{})
	p.End("a/b", nil)
	shown.Close()
	if out.Len() != 0 {
		t.Errorf("got %q, want nothing", out.String())
	}
}
