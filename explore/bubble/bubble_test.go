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
	"github.com/lockbench/lockbench/explore"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
)

// TestMain makes this program one that calls Run: as a child it does what the
// design of its job is called.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		enter(act)
	}
	goleak.VerifyTestMain(m)
}

// act is the runner of the children here.
func act(ctx context.Context, b explore.Bubble, r request, tell func(explore.Progress)) (explore.Result, error) {
	switch r.Design {
	case "answers":
		return answered(b, r, tell), nil
	case "errs":
		return explore.Result{Design: "errs"}, errors.New("clients -1: no such number; hint: 1 or more")
	case "lacks":
		return explore.Result{}, fmt.Errorf("explore: %w", &explore.LacksError{Scenario: "nested", Ability: explore.NeedsNest})
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
		b.Enter(func() {
			for end := time.Now().Add(1000 * time.Hour); ctx.Err() == nil && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // virtual
				b.Wait()
			}
		})
		return explore.Result{Design: "steps", Coverage: explore.Coverage{Stopped: "interrupted"}}, nil
	case "lasts":
		for began := time.Now(); time.Since(began) < lasting; {
			b.Enter(b.Wait)
		}
	case "deaf":
		b.Enter(func() { hang(b) })
	default:
		return run(ctx, b, find, r, tell)
	}
	return explore.Result{}, nil
}

// find knows one design more than the catalogue.
func find(name string) (design.Design, error) {
	if name == "wedges" {
		return wedging, nil
	}
	found, err := impls.Match(name)
	if err != nil {
		return design.Design{}, err
	}
	return found[0], nil
}

// wedging is a lock of which the threads of a process wait for each other outside
// of what a bubble can see.
var wedging = design.Design{
	Name:      "wedges",
	Reacquire: design.Refused,
	Open: design.Sharing(func(env design.Environment, client *redis.Client, _ design.Observer) lockbench.Locker {
		return wedged{client}
	}),
}

var wedge sync.Mutex

type wedged struct{ client *redis.Client }

func (w wedged) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	wedge.Lock()
	defer wedge.Unlock()
	w.client.Get(ctx, key) // after which the others may go on, and cannot
	return nil, w.client.SetNX(ctx, key, 1, opt.TTL).Err()
}

// hang has a goroutine wait for a mutex whose holder sleeps: the bubble is never
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

// answered is a result with something in every kind of field, told from within a
// bubble, where a day takes no time.
func answered(b explore.Bubble, r request, tell func(explore.Progress)) explore.Result {
	result := sample()
	b.Enter(func() {
		began := time.Now()
		time.Sleep(24 * time.Hour)
		b.Wait()
		result.Elapsed = time.Since(began)
		tell(explore.Progress{Schedules: 5, Broken: []lockbench.Guarantee{lockbench.Exclusion}, Elapsed: time.Second})
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
		Findings: []checker.Finding{{
			Guarantee: lockbench.Exclusion, Verdict: checker.Broken, Claimed: true, Exposure: 4, Violations: 1,
			Measures: map[string]float64{"jain": 0.25},
			Witness:  &checker.Witness{Key: "k", Sentence: "two owners", Ops: []history.Op{op}, Holds: []checker.WitnessHold{{Hold: 1, Until: history.Never}}},
		}},
		Witnesses: map[lockbench.Guarantee]explore.Witness{lockbench.Exclusion: {
			Guarantee: lockbench.Exclusion, Verdict: checker.Broken, Sentence: "two owners", FoundAt: 2, FoundAfter: time.Millisecond,
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
			Kinds:  []explore.FaultKind{explore.Cut}, Rounds: 3,
		},
		Patience: 2 * time.Second,
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
	want.Coverage.Kinds, want.Coverage.Rounds = []explore.FaultKind{explore.Cut}, 3
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("result (-got +want):\n%s", diff)
	}
	if want := []explore.Progress{{Schedules: 5, Broken: []lockbench.Guarantee{lockbench.Exclusion}, Elapsed: time.Second}}; !cmp.Equal(told, want) {
		t.Errorf("progress: got %v, want %v", told, want)
	}
}

// TestSameInChild explores a design in a child and in the test itself.
func TestSameInChild(t *testing.T) {
	d, err := find("lua-token/expire")
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
	timeless := cmp.Options{cmpopts.IgnoreFields(explore.Result{}, "Elapsed"), cmpopts.IgnoreFields(explore.Witness{}, "FoundAfter"), cmpopts.EquateEmpty()}
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
	if _, err := Run(t.Context(), job("lacks"), silent); !errors.As(err, &lacks) || lacks.Ability != explore.NeedsNest {
		t.Errorf("got %v, want what the lock lacks", err)
	}
}

// TestFailures has children crash and hang in every way that lock code can.
func TestFailures(t *testing.T) {
	for _, c := range []struct{ name, reason, stderr string }{
		{"panics", "panic: the lock is bad", "goroutine"},
		{"leaks", "deadlock: main bubble goroutine has exited", "goroutine"},
		{"crashes", "fatal error: sync: unlock of unlocked mutex", "goroutine"},
		{"exits", "exit status 7): so long", "so long"},
		{"hangs", "no step was taken for 2s", ""},
		{"spins", "no step was taken for 2s", ""},
		{"wedges", "no step was taken for 2s", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Run(t.Context(), job(c.name), silent)
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

// TestInterrupt cancels children at work: one that takes steps for longer than the
// patience answers what it has, one that does not listen is killed.
func TestInterrupt(t *testing.T) {
	t.Run("at work", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		j := job("steps")
		time.AfterFunc(j.Patience+j.Patience/2, cancel)
		got, err := Run(ctx, j, silent)
		if err != nil || got.Coverage.Stopped != "interrupted" {
			t.Errorf("got %+v, %v; want what was found until then", got, err)
		}
	})
	t.Run("deaf", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		j := job("deaf")
		j.Patience = time.Hour
		_, err := Run(ctx, j, silent)
		var failure *Failure
		if !errors.As(err, &failure) || !strings.Contains(failure.Reason, "interrupted and did not stop") && !strings.Contains(failure.Reason, "died (exit status 1)") {
			t.Errorf("got %v, want that it did not stop", err)
		}
	})
}

// lasting is longer than the patience of a job.
const lasting = 3 * time.Second

// TestPatience has a child take steps for longer than the patience, under a context
// that ends and under one that cannot.
func TestPatience(t *testing.T) {
	for name, ctx := range map[string]context.Context{"can be interrupted": t.Context(), "cannot": context.Background()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Run(ctx, job("lasts"), silent); err != nil {
				t.Errorf("got %v, want an answer: it took steps all the time", err)
			}
		})
	}
}

// TestOrphan closes a child's input as the death of its parent does, and has it
// end by itself.
func TestOrphan(t *testing.T) {
	p, err := start(job("deaf"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	p.stop()
	if err := p.died(); !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("got %v, want the exit of a child that gives up", err)
	}
}

// TestRequest keeps the design's functions out of what is sent.
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
	var e excerpt
	_, _ = io.WriteString(&e, "begin\nfatal error: x\n")
	for range 10_000 {
		_, _ = io.WriteString(&e, "0123456789\n")
	}
	_, _ = io.WriteString(&e, "end\n")
	if got := e.tail(); len(got) > tailLength || !strings.HasSuffix(got, "\nend") {
		t.Errorf("tail: got %d bytes, ending %q", len(got), got[max(0, len(got)-20):])
	}
	if got := e.cause(); got != "fatal error: x" || len(e.head) != headLength {
		t.Errorf("cause: got %q of %d bytes", got, len(e.head))
	}
}
