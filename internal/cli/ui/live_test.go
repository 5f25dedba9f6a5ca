package ui

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/lib/figures"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/internal/measure/series"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

// blindView is a live view on no terminal, of a session of two designs.
func blindView(ctx context.Context, out *bytes.Buffer) *Live {
	p := &runner.Plan{Subjects: make([]runner.Subject, 2), Workload: workloads.Must("oversell"), Options: workloads.Defaults()}
	return NewLive(ctx, p, out, func(func() Session) *Screen { return nil })
}

// still is a run in which nothing happens.
func still() runner.Progress { return runner.Progress{} }

// broke is a run that broke owner-release seven times.
func broke() *results.Judged {
	return &results.Judged{Verdicts: checker.Result{Findings: []checker.CellFinding{
		{Cell: lockbench.OwnerRelease.At(lockbench.Outlived), Finding: checker.Finding{Verdict: checker.Broken, Violations: 7}},
	}}}
}

func TestLiveViewFollowsASession(t *testing.T) {
	var out bytes.Buffer
	v := blindView(t.Context(), &out)
	v.Say("server: %s", "private")
	v.begin("a/b", func() runner.Progress { return runner.Progress{Grants: 7, Refused: 3} })
	v.found(checker.CellFinding{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Claimed: true, Violations: 1, Against: 1, Counterexample: &checker.Counterexample{Key: "k"}}}, time.Second)
	before := v.session()
	so := judgedSoFar{
		acquire: Latency{Count: 5}, faults: []Occurrences{{Fault: "death", Count: 2}},
		violations: map[string]int64{"exclusion": 9, "exclusion@outlived": 4},
	}
	v.judged(so)
	now := v.session()
	if diff := cmp.Diff(before.Current.Breaches, []Breach{{Guarantee: "exclusion", Claimed: true, Count: 1, First: time.Second, Key: "k"}}); diff != "" {
		t.Errorf("what was handed out has changed (-got +want):\n%s", diff)
	}
	want := Run{
		Design: "a/b", Grants: 7, Refused: 3, Acquire: so.acquire, Faults: so.faults,
		Breaches: []Breach{{Guarantee: "exclusion", Claimed: true, Count: 9, First: time.Second, Key: "k"}},
	}
	if diff := cmp.Diff(now.Current, want); diff != "" {
		t.Errorf("current run (-got +want):\n%s", diff)
	}
	v.end(broke())
	v.planned(3)
	now = v.session()
	if len(now.Done) != 1 || now.Current.Design != "" || now.Designs != 3 {
		t.Errorf("after the first of what are three designs by now: got %+v", now)
	}
	v.Close()
	v.Close()
	if out.Len() > 0 {
		t.Errorf("lines behind the view: %q", out.String())
	}
}

// TestLiveViewGivesWay asserts that notes become lines once the session is being ended.
func TestLiveViewGivesWay(t *testing.T) {
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	v := blindView(ctx, &out)
	v.begin("a/b", still)
	v.Say("seen on the screen")
	cancel()
	v.Say("interrupted")
	v.end(broke())
	if got, want := out.String(), "interrupted\n[1/2] a/b: 0 grants/s, broke owner-release@outlived\n"; got != want {
		t.Errorf("lines: got %q, want %q", got, want)
	}
}

// TestLiveViewFromAllSides has everybody at the view at once, for the race detector.
func TestLiveViewFromAllSides(t *testing.T) {
	v := blindView(t.Context(), &bytes.Buffer{})
	v.begin("a/b", still)
	var all sync.WaitGroup
	for _, do := range []func(){
		func() { v.Say("x") },
		func() { v.found(checker.CellFinding{Cell: lockbench.Exclusion.At(0)}, 0) },
		func() { v.judged(judgedSoFar{violations: map[string]int64{"exclusion": 1}}) },
		func() { _ = fmt.Sprint(v.session()) },
	} {
		all.Go(func() {
			for range 100 {
				do()
			}
		})
	}
	all.Wait()
	v.Close()
}

// TestLiveFiguresAreThoseOfTheJudgement runs a design with copies of its judgement, and
// asserts that they match its final findings.
func TestLiveFiguresAreThoseOfTheJudgement(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	v := blindView(t.Context(), &bytes.Buffer{})
	p := runner.Plan{Subjects: []runner.Subject{{Design: impls.Documented()[0]}}, Workload: workloads.Must("oversell"), Options: workloads.Defaults(), History: t.TempDir()}
	p.Options.Clients, p.Options.Keys, p.Options.Warmup, p.Options.Duration = 4, 4, 0, 600*time.Millisecond
	sink := v.Sink()
	sink.End = nil // which takes the figures away
	came, err := runner.Run(t.Context(), p, sink)
	if err != nil || len(came.Runs) != 1 {
		t.Fatal(err, came)
	}
	shown, found := v.session().Current, came.Runs[0].Measures.Measured.Latency(measure.Acquire)
	if n := shown.Acquire.Count; n == 0 || n > found.Count() || shown.Acquire.Max > int64(found.Max()) {
		t.Errorf("acquires: got %+v while it ran, of %d and at most %v in the end", shown.Acquire, found.Count(), found.Max())
	}
}

// TestLastScreenSaysWhatTheReportSays runs a lock that breaks a claim, and compares the last
// screen of the run, and the last of all, with the report.
func TestLastScreenSaysWhatTheReportSays(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	designs, err := impls.Match("hash-reentrant/plain")
	if err != nil {
		t.Fatal(err)
	}
	v := blindView(t.Context(), &bytes.Buffer{})
	p := runner.Plan{Subjects: []runner.Subject{{Design: designs[0]}}, Workload: workloads.Must("reentrant"), History: t.TempDir()}
	p.Options = workloads.Options{
		Clients: 8, Keys: 2, TTL: time.Second, NestedTTL: 100 * time.Millisecond, Hold: workloads.Always(200 * time.Millisecond),
		Wait: 50 * time.Millisecond, Duration: 800 * time.Millisecond,
	}
	sink := v.Sink()
	over, last := sink.End, Run{}
	sink.End = func(j *results.Judged) {
		last = v.session().Current
		over(j)
	}
	came, err := runner.Run(t.Context(), p, sink)
	if err != nil || len(came.Runs) != 1 {
		t.Fatal(err, came)
	}
	report := came.Report().Runs[0]
	var shown, broke []string
	for _, b := range last.Breaches {
		shown = append(shown, fmt.Sprint(b.Guarantee, " claimed: ", b.Claimed))
	}
	for cell, f := range report.Cells.Cells {
		if f.Verdict == checker.Broken {
			broke = append(broke, fmt.Sprint(cell, " claimed: ", f.Against > 0))
		}
	}
	slices.Sort(shown)
	slices.Sort(broke)
	if diff := cmp.Diff(shown, broke); diff != "" || len(broke) == 0 {
		t.Errorf("breaches, of which there must be some (-got +want the report):\n%s", diff)
	}
	nested := came.Runs[0].Measures.Measured.Nested // grants to the screen, and not to the report
	if got, want := []int64{last.Grants, last.Refused}, []int64{report.Counts.Grants + nested, report.Counts.Refused}; !slices.Equal(got, want) {
		t.Errorf("grants and refusals: got %v, want %v of the report", got, want)
	}
	screen := ansi.Strip(modelAfter(t, tea.WindowSizeMsg{Width: 250, Height: 40}, v.session()).View().Content)
	acquire := report.Latency["acquire"].P99
	wants := []string{report.Design, figures.Rate(report.GrantsPerS) + "/s", "p99 " + figures.Compact(acquire)}
	for cell, f := range report.Cells.Cells {
		if f.Against > 0 {
			wants = append(wants, "CLAIM BROKEN", cell.String())
		}
	}
	for _, want := range wants {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q, which the report says, on the last screen:\n%s", want, screen)
		}
	}
}

func TestOutcomeShown(t *testing.T) {
	held := checker.CellFinding{Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Claimed: true, Exercised: true, Exposure: 1, Verdict: checker.Held}}
	lost := checker.CellFinding{Cell: lockbench.OwnerRelease.At(lockbench.Outlived), Finding: checker.Finding{Verdict: checker.Broken, Violations: 7}}
	kept := results.Judged{Verdicts: checker.Result{Grants: 1, Findings: []checker.CellFinding{held, lost}}}
	bad := kept
	lost.Claimed, lost.Against = true, 7
	bad.Verdicts.Findings = []checker.CellFinding{held, lost}
	failed := kept
	failed.Err = context.DeadlineExceeded
	for _, c := range []struct {
		name  string
		run   results.Judged
		mark  Mark
		words string
	}{
		{"claims held", kept, Kept, "claims held; not claimed, broken: owner-release@outlived"},
		{"a claim was broken", bad, Broken, "CLAIM BROKEN: owner-release@outlived"},
		{"something went wrong", failed, Undecided, "inconclusive: context deadline exceeded; not claimed, broken: owner-release@outlived"},
		{"nothing happened", results.Judged{}, Undecided, "inconclusive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := Outcome{Design: "x", Mark: c.mark, Words: c.words}
			if diff := cmp.Diff(outcomeShown("x", &c.run), want); diff != "" {
				t.Errorf("outcome (-got +want):\n%s", diff)
			}
		})
	}
}

// TestRateCounter looks at a steady counter at odd times: the curve is steady too.
func TestRateCounter(t *testing.T) {
	var r rateCounter
	for _, ms := range []int64{100, 170, 300, 300, 410, 1000} {
		r.see(ms, time.Duration(ms)*time.Millisecond)
	}
	c := r.counts()
	wide := c.Widened(16 * series.Narrowest)
	for i, n := range wide.N[:6] { // the seventh is not over
		if n < 140 || n > 180 {
			t.Errorf("part %d: got %d, want about 160", i, n)
		}
	}
	if got := total(c); got != 1000 {
		t.Errorf("in all: got %d, want 1000", got)
	}
}

func TestTitle(t *testing.T) {
	p := &runner.Plan{Workload: workloads.Must("mutex"), Options: workloads.Defaults()}
	p.Options.Clients, p.Options.Rate = 3, 100
	got := titleOf(p)
	for _, want := range []string{"mutex", "3 clients", "100 arrivals/s"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	for _, clients := range []int{1, 8, 1} {
		p.Subjects = append(p.Subjects, runner.Subject{Change: func(o *workloads.Options) { o.Clients, o.Keys = clients, 4 }})
	}
	if got, want := titleOf(p), "mutex · 1, 8 clients · 4 keys · "; !strings.HasPrefix(got, want) {
		t.Errorf("several points: got %q, want it to begin with %q", got, want)
	}
}
