package runner

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/drive/load"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/workloads"
)

// small returns a plan with a few operations of each design, on the embedded server.
func small(t *testing.T, names ...string) Plan {
	t.Helper()
	t.Setenv("PATH", "")
	found, err := impls.Match(names...)
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{Workload: workloads.Must("oversell"), Options: workloads.Defaults(), History: t.TempDir()}
	for _, d := range found {
		p.Subjects = append(p.Subjects, Subject{Design: d})
	}
	p.Options.Keys, p.Options.Duration, p.Options.Operations, p.Options.TTL = 2, 0, 40, time.Minute
	return p
}

// TestSinksAreInformedInOrder checks that all sinks receive the beginning of each run, its history
// from header to end, and its judgement, in this order, and that no goroutine remains.
func TestSinksAreInformedInOrder(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	p := small(t, "lua-token/strategy", "setnx-getset/naive")
	var seen [2][]string
	var sinks []Sink
	for i := range seen {
		note := func(what string) {
			if n := len(seen[i]); n == 0 || seen[i][n-1] != what {
				seen[i] = append(seen[i], what)
			}
		}
		sinks = append(sinks, Sink{
			Planned: func(runs int) { note(fmt.Sprint(runs, " runs")) },
			Begin:   func(of Subject, _ func() Progress) { note("begin " + of.Label()) },
			Opened:  func(h history.Header) { note("opened " + h.Design) },
			Event:   func(history.Event) { note("events") },
			Closed:  func(history.End) { note("closed") },
			End:     func(j *results.Judged) { note("end " + j.Header.Design) },
		})
	}
	if _, err := Run(t.Context(), p, append(sinks, Sink{})...); err != nil {
		t.Fatal(err)
	}
	want := []string{"2 runs"}
	for _, of := range p.Subjects {
		name := of.Design.Name
		want = append(want, "begin "+name, "opened "+name, "events", "closed", "end "+name)
	}
	for _, got := range seen {
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("seen (-got +want):\n%s", diff)
		}
	}
}

// TestNextDecides checks that Next chooses a subject by the results so far, and that an optional
// subject that does not fit is left out.
func TestNextDecides(t *testing.T) {
	p := small(t, "lua-token/strategy", "rueidislock/tracking")
	p.Subjects[1].Optional = true // the design needs a real server
	var said []string
	p.Next = func(came *Result) (Subject, bool) {
		of := p.Subjects[0]
		of.Variant = fmt.Sprint("after ", len(came.Runs))
		of.Change = func(o *workloads.Options) { o.Operations = 10 * int64(len(came.Runs)+1) }
		return of, len(came.Runs) < 2
	}
	result, err := Run(t.Context(), p, Sink{Say: func(text string) { said = append(said, text) }})
	if err != nil || len(result.Runs) != 2 {
		t.Fatalf("%d runs, %v; want 2", len(result.Runs), err)
	}
	if !slices.ContainsFunc(said, func(text string) bool { return strings.HasPrefix(text, "left out: design rueidislock/tracking") }) {
		t.Errorf("said %q, want what was left out", said)
	}
	for i, j := range result.Runs {
		if want := fmt.Sprintf("lua-token-strategy-after-%d.lbh", i); !strings.HasSuffix(j.History, want) {
			t.Errorf("history %s, want %s", j.History, want)
		}
		again, err := Judge(j.History, nil)
		if err != nil || again.Verdicts.Ops != j.Verdicts.Ops || j.Verdicts.Ops == 0 {
			t.Errorf("judged again: %d operations, %v; want %d", again.Verdicts.Ops, err, j.Verdicts.Ops)
		}
	}
	p.Subjects[1].Optional = false
	for _, d := range impls.Controls() {
		with := p
		with.Next, with.Subjects = nil, []Subject{{Design: p.Subjects[1].Design, Optional: true}, {Design: d, Optional: true}}
		if _, err := Run(t.Context(), with); err == nil || !strings.Contains(err.Error(), "rueidislock/tracking") {
			t.Errorf("%s alone is left: error %v, want why the lock cannot run", d.Name, err)
		}
	}
	if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "rueidislock/tracking") {
		t.Errorf("got error %v, want why it cannot run", err)
	}
}

// TestRunEndsEarly checks that nothing is run after the context ends, and that nothing is left
// behind.
func TestRunEndsEarly(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	p := small(t, "lua-token/strategy", "lua-token/token")
	p.History = ""
	t.Setenv("TMPDIR", t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	p.Options.Operations, p.Options.Duration = 0, time.Hour
	result, err := Run(ctx, p, Sink{Begin: func(Subject, func() Progress) { stop() }})
	if err != nil || result.Exit() != results.Inconclusive {
		t.Errorf("exit %d, %v; want %d", result.Exit(), err, results.Inconclusive)
	}
	if diff := cmp.Diff(result.NotRun[len(result.NotRun)-1], p.Subjects[1].Label()); diff != "" {
		t.Errorf("not run (-got +want):\n%s", diff)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestRunIsCutBeforeItsFirstRun checks that an interrupt before the first run is not reported as an
// error of the server, and that the result does not pass.
func TestRunIsCutBeforeItsFirstRun(t *testing.T) {
	p := small(t, "lua-token/strategy", "lua-token/token")
	p.Servers = []string{"redis://127.0.0.1:1"}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	result, err := Run(ctx, p)
	if err != nil || result.Exit() != results.Inconclusive || len(result.NotRun) != 2 {
		t.Errorf("exit %d, not run %q, error %v; want %d", result.Exit(), result.NotRun, err, results.Inconclusive)
	}
}

// TestHistoriesOfTwo checks that a second session is kept out of a directory to which a first one
// writes histories.
func TestHistoriesOfTwo(t *testing.T) {
	p := small(t, "lua-token/strategy")
	var second error
	if _, err := Run(t.Context(), p, Sink{Begin: func(Subject, func() Progress) { _, second = Run(t.Context(), p) }}); err != nil {
		t.Fatal(err)
	}
	if second == nil || !strings.Contains(second.Error(), "another lockbench writes histories there; hint: ") {
		t.Errorf("the second: %v", second)
	}
	if _, err := Run(t.Context(), p); err != nil {
		t.Error(err)
	}
}

// TestFailFastEndsThePlan checks that nothing is run after a broken claim, not even the self-check.
func TestFailFastEndsThePlan(t *testing.T) {
	p := small(t, "lua-token/expire", "lua-token/token")
	p.FailFast, p.SelfCheck = true, true
	p.Options = workloads.Options{Clients: 4, Keys: 1, Slow: 1, SlowFactor: 1.5, TTL: time.Second, Wait: 2 * time.Second, Duration: time.Hour}
	d, err := Claiming(p.Subjects[0].Design, "+owner-release@outlived")
	if err != nil {
		t.Fatal(err)
	}
	p.Subjects[0].Design = d
	found := 0
	result, err := Run(t.Context(), p, Sink{Found: func(checker.CellFinding, time.Duration) { found++ }})
	if err != nil || result.Exit() != results.BrokenClaim || found == 0 {
		t.Fatalf("exit %d, %v, %d found; want %d", result.Exit(), err, found, results.BrokenClaim)
	}
	if diff := cmp.Diff(result.NotRun, []string{p.Subjects[1].Label()}); diff != "" || result.SelfCheck != nil {
		t.Errorf("self-check %v, not run (-got +want):\n%s", result.SelfCheck, diff)
	}
}

// TestFailFastUnderSaturation checks that a run of ten minutes, with many more clients than
// processors, ends at its first violation. By the stamps in the history, at least one of several
// runs ends within the second that the documentation promises.
func TestFailFastUnderSaturation(t *testing.T) {
	if testing.Short() {
		t.Skip("saturates the machine")
	}
	p := small(t, "hash-reentrant/plain")
	p.Workload, p.FailFast = workloads.Must("reentrant"), true
	p.Options = workloads.Options{
		Clients: 32 * runtime.GOMAXPROCS(0), Keys: 4, TTL: time.Second, NestedTTL: 100 * time.Millisecond,
		Hold: workloads.Always(300 * time.Millisecond), Wait: 50 * time.Millisecond, Duration: 10 * time.Minute,
	}
	best := p.Options.Duration
	for range longtest.Times(1, 5) {
		first := time.Duration(-1)
		result, err := Run(t.Context(), p, Sink{Found: func(f checker.CellFinding, at time.Duration) {
			if first < 0 && f.Against > 0 {
				first = at
			}
		}})
		if err != nil || len(result.Runs) != 1 || first < 0 {
			t.Fatalf("error %v, %d runs, first violation %v; want one run with a violation", err, len(result.Runs), first)
		}
		end := result.Runs[0].End.Trailer
		length := time.Duration(end.EndNS)
		t.Logf("violated at %v, over %v later", first, length-first)
		if end.Ended != load.EndedBroken || length > p.Options.Duration/4 {
			t.Errorf("it ended by %q after %v, want %q long before %v", end.Ended, length, load.EndedBroken, p.Options.Duration)
		}
		best = min(best, length-first)
	}
	if longtest.On() && best > time.Second {
		t.Errorf("it took %v at best from the violation to the end, want a second", best)
	}
}

func TestCheck(t *testing.T) {
	sound := []Subject{{Design: design.Design{Name: "a/b"}}}
	for _, c := range []struct {
		name, want string
		plan       Plan
	}{
		{"no subject", "no subject to run; hint:", Plan{Workload: workloads.Must("mutex")}},
		{"no workload", "no workload to run; hint:", Plan{Subjects: sound}},
		{"options", "workload mutex: ", Plan{Subjects: sound, Workload: workloads.Must("mutex"), Options: workloads.Options{Clients: -1}}},
		{"a change", "workload mutex: ", Plan{
			Subjects: []Subject{{Change: func(o *workloads.Options) { o.Clients = -1 }}}, Workload: workloads.Must("mutex"), Options: workloads.Defaults(),
		}},
		{"a fault", `unknown fault "crahs"`, Plan{Subjects: sound, Workload: workloads.Must("mutex"), Options: workloads.Defaults(), Faults: []string{"crahs"}}},
		{"a threshold", `unknown metric "grantz"`, Plan{Subjects: sound, Workload: workloads.Must("mutex"), Options: workloads.Defaults(), AbortOn: []string{"grantz>1"}}},
		{"nothing", "", Plan{Subjects: sound, Workload: workloads.Must("mutex"), Options: workloads.Defaults()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.plan.Check(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
