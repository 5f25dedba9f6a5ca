package bubble

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/lib/subprocess"
	"github.com/lockbench/lockbench/workloads"
)

// TestMain makes this program one that calls Run: as a child it acts as the name of its
// job's design says.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		grace, err := time.ParseDuration(os.Getenv(graceVariable))
		if err != nil {
			grace = time.Hour
		}
		enter(act, grace)
	}
	// TestEnter leaves goroutines behind on purpose.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("testing/synctest.testingSynctestTest"),
		goleak.IgnoreAnyFunction("github.com/lockbench/lockbench/internal/explore/bubble.sleepOn"),
		goleak.IgnoreAnyFunction("github.com/lockbench/lockbench/internal/explore/bubble.block"),
	)
}

// graceVariable is the time that the children of these tests may take to end.
const graceVariable = "LOCKBENCH_TEST_GRACE"

// act is the runner of the children of these tests.
func act(ctx context.Context, b explore.Bubble, r request, tell func(explore.Progress)) (explore.Result, error) {
	switch r.Design {
	case "answers":
		return answered(b, r, tell), nil
	case "errs":
		return explore.Result{Design: "errs"}, errors.New("clients -1: no such number; hint: 1 or more")
	case "lacks":
		return explore.Result{}, fmt.Errorf("explore: %w", &explore.LacksError{Scenario: "nested", Ability: workloads.Nests})
	case "replays":
		return explore.Result{Design: string(r.Replay)}, nil
	case "panics":
		b.Enter(func() { panic("the lock is bad") })
	case "leaks":
		b.Enter(func() { go func() { select {} }() })
	case "crashes":
		b.Enter(func() { new(sync.Mutex).Unlock() })
	case "exits":
		fmt.Fprintln(os.Stderr, "so long")
		os.Exit(7)
	case "hangs":
		tell(explore.Progress{Schedules: 1})
		b.Enter(func() { hang(b) })
	case "spins":
		b.Enter(func() {
			for n := 1; n != 0; n += 2 {
			}
		})
	case "steps":
		for ctx.Err() == nil {
			b.Enter(b.Wait)
		}
		return explore.Result{Design: "steps", Coverage: explore.Coverage{Stopped: "interrupted"}}, nil
	case "deaf":
		b.Enter(func() { hang(b) })
	default:
		return run(ctx, b, find, r, tell)
	}
	return explore.Result{}, nil
}

// find finds one design more than the catalogue has.
func find(name, _ string) (design.Design, error) {
	if name == "wedges" {
		return wedging, nil
	}
	found, err := impls.Match(name)
	if err != nil {
		return design.Design{}, err
	}
	return found[0], nil
}

// wedging is a lock with threads of a process that wait for each other in a way that a
// bubble cannot see.
var wedging = design.Design{
	Name:      "wedges",
	Reacquire: design.Refused,
	Open: onredis.Sharing(func(env onredis.Environment, client *redis.Client, _ design.Observer) lockbench.Locker {
		return wedged{client}
	}),
}

var wedge sync.Mutex

type wedged struct{ client *redis.Client }

func (w wedged) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	wedge.Lock()
	defer wedge.Unlock()
	w.client.Get(ctx, key) // then the others may go on, but cannot
	return nil, w.client.SetNX(ctx, key, 1, opt.TTL).Err()
}

// hang makes a goroutine wait for a mutex while its holder sleeps: the bubble is never
// quiet, and its time does not pass.
func hang(b explore.Bubble) {
	var mu sync.Mutex
	mu.Lock()
	go func() {
		mu.Lock()
		defer mu.Unlock()
	}()
	b.Wait()
}

// answered returns a result with something in every kind of field, sent from within a
// bubble, in which a day takes no time.
func answered(b explore.Bubble, r request, tell func(explore.Progress)) explore.Result {
	result := sample()
	b.Enter(func() {
		began := time.Now()
		time.Sleep(24 * time.Hour)
		b.Wait()
		result.Elapsed = time.Since(began)
		tell(explore.Progress{Schedules: 5, Broken: []lockbench.Cell{lockbench.Exclusion.At(lockbench.Crash)}, Elapsed: time.Second})
	})
	fmt.Println("PASS, says the lock")
	_, _ = io.WriteString(os.Stderr, "and more\n")
	result.Coverage.Kinds, result.Coverage.Rounds = r.Kinds, r.Rounds
	return result
}

func sample() explore.Result {
	op := history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "k", Hold: 1, Return: history.Never, Attempt: history.NoStamp, Fence: 1<<64 - 1}
	return explore.Result{
		Design:   "answers",
		Coverage: explore.Coverage{Strategy: explore.Exhaustive, Scenario: "contend", Schedules: 3, Complete: true},
		Findings: []checker.CellFinding{{
			Cell: lockbench.Exclusion.At(0), Finding: checker.Finding{Verdict: checker.Broken, Claimed: true, Exposure: 4, Violations: 1,
				Measures:       map[string]float64{"jain": 0.25},
				Counterexample: &checker.Counterexample{Key: "k", Sentence: "two owners", Ops: []history.Op{op}, Holds: []checker.CounterexampleHold{{Hold: 1, Until: history.Never}}},
			}}},
		Counterexamples: map[lockbench.Cell]explore.Counterexample{lockbench.Exclusion.At(lockbench.Crash): {
			CellFinding: checker.CellFinding{Cell: lockbench.Exclusion.At(lockbench.Crash), Finding: checker.Finding{Verdict: checker.Broken}}, Sentence: "two owners", FoundAt: 2, FoundAfter: time.Millisecond,
			Replay: explore.Replay{Text: []byte("a\nb\xff\n")},
			Rows:   []explore.Row{{At: time.Second, Client: "c1", Command: "SET k token#1", Reply: "OK", Holders: []string{"c1"}}},
		}},
		Grants: 12, Defects: []string{"none"}, Elapsed: 24 * time.Hour,
	}
}

func job(name string) Job {
	return Job{
		Config: explore.Config{
			Design: design.Design{Name: name, Open: func(design.Environment) (design.Process, error) { return nil, nil }},
			Kinds:  []fault.Kind{fault.Cut}, Rounds: 3,
		},
		Patience: time.Hour,
	}
}

func silent(explore.Progress) {}

func TestRun(t *testing.T) {
	var told []explore.Progress
	got, err := Run(t.Context(), job("answers"), func(p explore.Progress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	want := sample()
	want.Coverage.Kinds, want.Coverage.Rounds = []fault.Kind{fault.Cut}, 3
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("result (-got +want):\n%s", diff)
	}
	if want := []explore.Progress{{Schedules: 5, Broken: []lockbench.Cell{lockbench.Exclusion.At(lockbench.Crash)}, Elapsed: time.Second}}; !cmp.Equal(told, want) {
		t.Errorf("progress: got %v, want %v", told, want)
	}
}

// TestSameInChild explores a design in a child and in the test itself.
func TestSameInChild(t *testing.T) {
	d, err := find("lua-token/expire", "")
	if err != nil {
		t.Fatal(err)
	}
	cfg := explore.Config{Design: d, Scenario: "stale-release", Faults: -1, Schedules: 100, Seed: 3}
	got, err := Run(t.Context(), Job{Config: cfg}, silent)
	if err != nil {
		t.Fatal(err)
	}
	want, err := explore.Run(t.Context(), New(t), cfg, silent)
	if err != nil {
		t.Fatal(err)
	}
	if got.Coverage.Schedules == 0 || len(got.Findings) == 0 {
		t.Errorf("nothing was explored: %+v", got)
	}
	timeless := cmp.Options{cmpopts.IgnoreFields(explore.Result{}, "Elapsed"), cmpopts.IgnoreFields(explore.Counterexample{}, "FoundAfter"), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(got, want, timeless); diff != "" {
		t.Errorf("(-child +test):\n%s", diff)
	}
}

func TestRunReplays(t *testing.T) {
	j := job("replays")
	j.Replay.Text = []byte("the file")
	if got, err := Run(t.Context(), j, silent); err != nil || got.Design != "the file" {
		t.Errorf("got %q, %v; want the file sent", got.Design, err)
	}
}

func TestErrorsComeThrough(t *testing.T) {
	got, err := Run(t.Context(), job("errs"), silent)
	if err == nil || err.Error() != "clients -1: no such number; hint: 1 or more" || got.Design != "errs" {
		t.Errorf("got %v with result of %q, want the child's", err, got.Design)
	}
	var failure *Failure
	if errors.As(err, &failure) {
		t.Error("an answer is no failure of the child")
	}
}

func TestLacksComesThrough(t *testing.T) {
	var lacks *explore.LacksError
	if _, err := Run(t.Context(), job("lacks"), silent); !errors.As(err, &lacks) || lacks.Ability != workloads.Nests {
		t.Errorf("got %v, want what the lock lacks", err)
	}
}

// TestFailures makes children crash and hang in every way that lock code can. Hanging
// ones are given up after twice the time that they take to report a step.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name           string
		patience       time.Duration
		reason, stderr string
	}{
		{"panics", time.Hour, "panic: the lock is bad", "goroutine"},
		{"leaks", time.Hour, "the lock left 1 goroutine behind: 1 in ", "goroutine"},
		{"crashes", time.Hour, "fatal error: sync: unlock of unlocked mutex", "goroutine"},
		{"exits", time.Hour, "exit status 7): so long", "so long"},
		{"hangs", 2 * pulse, "no step was taken for 500ms", ""},
		{"spins", 2 * pulse, "no step was taken for 500ms", ""},
		{"wedges", 2 * pulse, "no step was taken for 500ms", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := job(c.name)
			j.Patience = c.patience
			_, err := Run(t.Context(), j, silent)
			var failure *Failure
			if !errors.As(err, &failure) {
				t.Fatalf("got %v, want a Failure", err)
			}
			if !strings.Contains(failure.Reason, c.reason) || strings.Contains(failure.Reason, "\n") {
				t.Errorf("reason: got %q, want %q in one line", failure.Reason, c.reason)
			}
			if !strings.Contains(failure.Stderr, c.stderr) {
				t.Errorf("stderr: got %q, want %q in it", failure.Stderr, c.stderr)
			}
		})
	}
}

// begun starts the child of a job with that name, which may take an hour to answer.
func begun(t *testing.T, name string) *process {
	t.Helper()
	p, err := start(job(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	p.grace = time.Hour
	return p
}

// TestInterrupt cancels a child at work, which has reported its steps, and answers with
// its findings so far.
func TestInterrupt(t *testing.T) {
	p := begun(t, "steps")
	for last, told := int64(0), 0; told < 2; told++ {
		m := <-p.messages
		if m.Beat <= last {
			t.Fatalf("got %+v after %d steps, want more of them", m, last)
		}
		last = m.Beat
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := p.follow(ctx, time.Hour, silent)
	if err != nil || got.Coverage.Stopped != "interrupted" {
		t.Errorf("got %+v, %v; want what was found until then", got, err)
	}
}

// TestInterruptDeaf checks that a cancelled child that does not listen is killed.
func TestInterruptDeaf(t *testing.T) {
	p := begun(t, "deaf")
	p.grace = time.Nanosecond
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.follow(ctx, time.Hour, silent)
	var failure *Failure
	if !errors.As(err, &failure) || failure.Reason != "it was interrupted and did not stop" {
		t.Errorf("got %v, want that it did not stop", err)
	}
}

// TestOrphan checks that a child ends by itself when its input is closed, as by the
// death of its parent.
func TestOrphan(t *testing.T) {
	t.Setenv(graceVariable, "1ns")
	p := begun(t, "deaf")
	p.stop()
	if err := p.died(); !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("got %v, want the exit of a child that gives up", err)
	}
}

// TestRequest checks that the design's functions are left out of a request.
func TestRequest(t *testing.T) {
	text, err := json.Marshal(request{Config: job("x").Config, Design: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var r request
	if err := json.Unmarshal(text, &r); err != nil || r.Design != "x" || r.Rounds != 3 || r.Config.Design.Name != "" {
		t.Errorf("got %+v, %v; want design x by name, and 3 rounds", r, err)
	}
}

func TestExcerpt(t *testing.T) {
	var e subprocess.Excerpt
	_, _ = io.WriteString(&e, "begin\nfatal error: x\n")
	for range 10_000 {
		_, _ = io.WriteString(&e, "0123456789\n")
	}
	_, _ = io.WriteString(&e, "end\n")
	if got := e.Tail(); len(got) > 4<<10 || !strings.HasSuffix(got, "\nend") {
		t.Errorf("tail: got %d bytes, ending %q", len(got), got[max(0, len(got)-20):])
	}
	if got := cause(&e); got != "fatal error: x" || len(e.Head()) != 64<<10 {
		t.Errorf("cause: got %q of %d bytes", got, len(e.Head()))
	}
}
