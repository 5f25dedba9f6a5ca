package locktest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/explore/bubble"
	"github.com/lockbench/lockbench/internal/mutants"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/locktest"
)

// childVariable names the lock that this program explores when its own tests run it again.
const childVariable = "LOCKTEST_CHILD"

// atOnce is the number of tests that run at one time, independent of the number of cores:
// most of them wait for leases to end.
const atOnce = "6"

// TestMain makes this program one that can explore in a child: benchmarks need that, since
// only a test can enter a bubble.
func TestMain(m *testing.M) {
	bubble.Child(func(string, string) (design.Design, error) { return redislockDesign(), nil })
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// TestChild stands for the test of a library with a mutant as its lock. Only children run
// it.
func TestChild(t *testing.T) {
	name := os.Getenv(childVariable)
	if name == "" {
		t.Skip("for children of TestExplore only")
	}
	if lock := background[name]; lock != nil {
		locktest.Explore(t, lock, locktest.WithClientRetries(0))
		return
	}
	locktest.Explore(t, newOf(find(t, name)), locktest.WithClientRetries(0)) // no mutant refuses a key that it has taken
}

// background are locks that do something besides their calls. Only children explore them: a
// goroutine that is left behind stays.
var background = map[string]locktest.NewLocker{
	"gives up": func(t *testing.T, _ locktest.Env) lockbench.Locker {
		go time.Sleep(time.Hour)
		t.Fatal("x")
		return nil
	},
	"never ends": func(t *testing.T, env locktest.Env) lockbench.Locker {
		go func() {
			for {
				time.Sleep(time.Second)
			}
		}()
		return newRedislock(t, env)
	},
	"panics": func(*testing.T, locktest.Env) lockbench.Locker { panic("no such lock") },
	"waits for ever": func(*testing.T, locktest.Env) lockbench.Locker {
		<-make(chan int)
		return nil
	},
	"dials on": func(_ *testing.T, env locktest.Env) lockbench.Locker { return dial(env).redislockLocker },
	"closes":   func(_ *testing.T, env locktest.Env) lockbench.Locker { return dial(env) },
}

// dialling is a lock with a client of its own, which keeps one connection ready: it dials in the
// background until it is closed.
type dialling struct {
	redislockLocker
	*redis.Client
}

func dial(env locktest.Env) dialling {
	client := redis.NewClient(&redis.Options{
		Dialer: env.Dial, Protocol: 2, DisableIdentity: true, MaxRetries: -1, PoolSize: 1, MinIdleConns: 1,
	})
	return dialling{redislockLocker{redislock.New(client)}, client}
}

// placeOf returns the file and the line of code in a file of this package, as go test prints them.
func placeOf(t *testing.T, file, code string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), code)
	if !found {
		t.Fatalf("%s has no %q", file, code)
	}
	return fmt.Sprintf("%s:%d", file, strings.Count(before, "\n")+1)
}

// aloneVariable names the test that this program runs when that test runs it again.
const aloneVariable = "LOCKTEST_ALONE"

// alone runs an exploring test in a program of its own, beside others, and reports whether
// this is that program. The budget is few schedules, or many in long tests, unless the
// environment sets it. Within one program explorations follow one another and control the
// random sources, so no lock may be tested in real time meanwhile.
func alone(t *testing.T, few, many int) bool {
	t.Helper()
	t.Parallel()
	if os.Getenv(aloneVariable) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.timeout=5m", "-test.run="+exactly(t.Name()), fmt.Sprintf("-test.short=%t", testing.Short()))
	cmd.Env = append(os.Environ(), aloneVariable+"="+t.Name())
	if os.Getenv("LOCKBENCH_BUDGET") == "" {
		cmd.Env = append(cmd.Env, budget(few, many))
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" (") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// budget returns the setting of the number of schedules.
func budget(few, many int) string {
	return fmt.Sprintf("LOCKBENCH_BUDGET=%d", longtest.Times(few, many))
}

// exactly returns the pattern of one test.
func exactly(name string) string { return "^" + strings.ReplaceAll(name, "/", "$/^") + "$" }

// find returns a lock of package mutants.
func find(t *testing.T, name string) design.Design {
	t.Helper()
	for _, d := range mutants.Sound() {
		if d.Name == "mutants/"+name {
			return d
		}
	}
	for _, m := range mutants.Mutants() {
		if m.Name == name {
			return m.Design()
		}
	}
	t.Fatalf("no lock %q in package mutants", name)
	return design.Design{}
}

// newOf makes owners of d, each in a process of its own.
func newOf(d design.Design) locktest.NewLocker {
	return func(t *testing.T, env locktest.Env) lockbench.Locker {
		p, err := d.Open(design.Environment{
			Services: []any{onredis.Server{Options: env.Redis.Options(), Clients: borrowed{env.Redis}}},
			Host:     env.Owner, PID: 1, Now: env.Now, Random: env.Random,
		})
		if err != nil {
			t.Fatal(err)
		}
		return adapter{p.Locker(design.Blind), p}
	}
}

// borrowed lets a design use the connections of its environment.
type borrowed struct{ client *redis.Client }

func (b borrowed) Open(*redis.Options) *redis.Client { return b.client }

func (b borrowed) Close(*redis.Client) error { return nil }

type adapter struct {
	lockbench.Locker
	process design.Process
}

func (a adapter) Close() error { return a.process.Close() }

func TestCheckFindsMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	t.Parallel()
	for _, c := range []struct {
		mutant string
		breaks string // a cell
		few    int    // schedules: three times as many as show the fault
	}{
		{"get-set", "exclusion", 40},
		{"plain-del", "owner-release@outlived", 40},
		{"drift-added", "lease", 300},
		{"setnx-expire", "recovery@crash", 300},
		{"silent-loss", "loss-reported@outlived", 40},
		{"renew-releases", "lease", 40},
		{"fence-first", "fencing", 300},
		{"client-clock", "exclusion@skew", 1200},
		{"evalsha-only", "answers@script-flush", 150},
		{"release-then-delay", "release-delay", 80},
		{"never-woken", "wake-up", 80},
		{"woken-late", "wake-up", 80},
		{"granted-when-over", "exclusion", 80},
	} {
		t.Run(c.mutant, func(t *testing.T) {
			if !alone(t, c.few, max(c.few, 400)) {
				return
			}
			r, err := locktest.Check(t, newOf(find(t, c.mutant)), locktest.WithClientRetries(0))
			if err != nil {
				t.Fatal(err)
			}
			if f := testOf(r, cellOf(t, c.breaks)); f.Verdict != checker.Broken || f.Replay == "" {
				t.Errorf("%s: got %v (%s) with schedule %v, want it broken by one\n%s", f.Cell, f.Verdict, f.Note, f.Replay, r)
			}
			if err := r.Err(); err == nil || !strings.Contains(err.Error(), "broken") {
				t.Errorf("got error %v, want one of what is broken", err)
			}
		})
	}
}

func cellOf(t *testing.T, text string) lockbench.Cell {
	t.Helper()
	cell, err := lockbench.ParseCell(text)
	if err != nil {
		t.Fatal(err)
	}
	return cell
}

// TestCheckPassesSoundLocks asserts that nothing is broken, and nothing untested.
// internal/mutants searches the same locks for longer.
func TestCheckPassesSoundLocks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bare", "sound", "nested", "renewing", "full"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "full" {
				t.Skip("the race detector sees in one what it would see in all")
			}
			if !alone(t, 300, 800) {
				return
			}
			r, err := locktest.Check(t, newOf(find(t, name)), locktest.WithClientRetries(0))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Err(); err != nil {
				t.Errorf("found: %v\n%s", err, r)
			}
		})
	}
}

// TestSentAgain checks that the message of a lock on a client that sends a command again says so.
func TestSentAgain(t *testing.T) {
	if !alone(t, 3000, 3000) {
		return
	}
	r, err := locktest.Check(t, newOf(find(t, "sound")))
	if err != nil {
		t.Fatal(err)
	}
	cell := lockbench.Answers.At(lockbench.LostReply)
	const want = "(?s)c\\d sent this twice, as a client does by itself where the reply is lost: EVALSHA .*DisableRetry: true in rueidis; or accept it.*\"-answers@lost-reply\""
	if err := testOf(r, cell).Err; err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
		t.Errorf("%s: got %v, want %q", cell, err, want)
	}
}

// TestSentTwice checks what counts as a command that a client sent again.
func TestSentTwice(t *testing.T) {
	take := locktest.Row{Client: "c1", Command: "acquire: SET job-1 token#1", Fault: "lost-reply"}
	for _, c := range []struct {
		name string
		next locktest.Row
		want bool
	}{
		{"the same", locktest.Row{Client: "c1", Command: "SET job-1 token#1"}, true},
		{"in the next call", locktest.Row{Client: "c1", Command: "acquire: SET job-1 token#1"}, false},
		{"by another client", locktest.Row{Client: "c2", Command: "SET job-1 token#1"}, false},
		{"another command", locktest.Row{Client: "c1", Command: "DEL job-1"}, false},
	} {
		for _, cell := range []string{"answers@lost-reply", "exclusion@lost-reply"} {
			got := locktest.SentAgain(cellOf(t, cell), []locktest.Row{take, c.next})
			if (got != "") != c.want || strings.Contains(got, "accept it") != (c.want && cell == "answers@lost-reply") {
				t.Errorf("%s, %s: got %q, want it said: %t", c.name, cell, got, c.want)
			}
		}
	}
}

// TestTooFewSchedules gives a sound lock one schedule for each program, as a slow client would: what
// met no occasion is skipped with the number of schedules, unless it is required, or all there is.
func TestTooFewSchedules(t *testing.T) {
	if !alone(t, 1, 1) {
		return
	}
	untested := func(options ...locktest.ExploreOption) (cells []lockbench.Cell, err error) {
		t.Helper()
		r, err := locktest.Check(t, newOf(find(t, "sound")), append(options, locktest.WithClientRetries(0))...)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range r.Cells.With(checker.Untested) {
			if skipped := r.Tests[cell].Skipped; strings.HasPrefix(skipped, "untested in ") && strings.Contains(skipped, " schedule") {
				cells = append(cells, cell)
			}
		}
		return cells, r.Err()
	}
	few, err := untested()
	if len(few) == 0 || err != nil {
		t.Fatalf("skipped: %v, error: %v; want some skipped, and no error", few, err)
	}
	if again, err := untested(locktest.WithRequired()); len(again) > 0 || !errors.Is(err, locktest.ErrUntested) {
		t.Errorf("required: skipped %v, error %v; want an error that wraps ErrUntested", again, err)
	}
	if again, err := untested(locktest.WithClaims(few[0].String())); len(again) > 0 || !errors.Is(err, locktest.ErrUntested) {
		t.Errorf("claimed alone, %s: skipped %v, error %v; want an error that wraps ErrUntested", few[0], again, err)
	}
}

// TestCheckNamesWhatIsWrong checks the errors for locks that cannot be explored.
func TestCheckNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ err, want string }{
		"an error": {"no such thing", "on an idle server: acquire a free key: no such thing; hint: "},
		"no lease": {"", "neither a lease nor an error; hint: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := locktest.Check(t, func(*testing.T, locktest.Env) lockbench.Locker { return useless(c.err) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q in it", err, c.want)
			}
		})
	}
}

// useless is a Locker that grants nothing; its text is the error.
type useless string

func (u useless) Acquire(context.Context, string, lockbench.Options) (lockbench.Lease, error) {
	if u == "" {
		return nil, nil
	}
	return nil, errors.New(string(u))
}

// TestExplore checks the output of go test for locks with and without faults.
func TestExplore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, lock string
		env        []string
		fails      bool
		want       []string // patterns
	}{
		{"sound", "sound", nil, false, []string{
			`--- PASS: TestChild/exclusion`, `--- PASS: TestChild/fencing`, `\n +exclusion@failover: `,
			`not for this lock, or not tried:\n`, `\n +reentrancy: .*does not count: it is refused`, `: \d+ held, .*\d+ not for this lock, or not tried\n`, `explored with seed 1\n +contend `,
			`\n +exclusion@skew: .*does not read the clock`,
		}},
		{"broken", "plain-del", nil, true, []string{
			`--- FAIL: TestChild/owner-release@outlived`, `RUN +TestChild/owner-release@outlived\n +` + placeOf(t, "explore_test.go", "locktest.Explore(t, newOf(find(t, name))") + `: .*broken;`, `release: DEL job-1 `, `run it again: LOCKBENCH_REPLAY=\S+ go test -run '\^TestChild\$'`,
			`\n +exclusion@failover: .*cannot fail over`, `: \d+ held, \d+ broken \(.*owner-release@outlived.*\), `,
		}},
		{"not claimed", "plain-del", []string{"LOCKBENCH_CLAIMS=recovery", "LOCKBENCH_SEED=3"}, false, []string{
			`seed 3`, `--- SKIP: TestChild/owner-release@outlived`, `RUN +TestChild/owner-release@outlived\n.*broken;.*not claimed`,
		}},
		{"a goroutine that is left", "gives up", nil, true, []string{
			`: x\n`, `newLocker failed the test\n.*the lock left 1 goroutine behind: 1 in .*locktest_test\.init\.func.*explore_test\.go:\d+\); hint: `, `(?m)^FAIL$`,
		}},
		{"goroutines that go on", "never ends", nil, true, []string{`the lock left 9 goroutines behind: 9 in `, `(?m)^FAIL$`}},
		{"a client that is not closed", "dials on", nil, true, []string{`the lock left \d+ goroutines? behind: \d+ in .*\.tryDial \(.*\); hint: `, `(?m)^FAIL$`}},
		{"a client that is closed", "closes", nil, false, []string{`--- PASS: TestChild/exclusion`}},
		{"a panic", "panics", nil, true, []string{`the lock panicked on an idle server, .*explore_test\.go:\d+\): no such lock`, `(?m)^FAIL$`}},
		{"a call that waits for ever", "waits for ever", nil, true, []string{`the lock waits for ever, in 1 goroutine: `, `(?m)^FAIL$`}},
		{"a wrong setting", "sound", []string{"LOCKBENCH_BUDGET=much"}, true, []string{`LOCKBENCH_BUDGET="much" is no budget; hint`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name != "broken" {
				t.Skip("the race detector sees in one what it would see in all")
			}
			t.Parallel()
			out, err := child(t, t.TempDir(), append([]string{childVariable + "=" + c.lock}, c.env...))
			wantOutput(t, out, err, c.fails, c.want)
		})
	}
}

// TestExploreCauses checks that a fault that breaks two guarantees fails the subtest of one, and of
// the other if that runs alone.
func TestExploreCauses(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	t.Parallel()
	lock := []string{childVariable + "=get-set"}
	out, err := child(t, t.TempDir(), lock)
	wantOutput(t, out, err, true, []string{
		`--- FAIL: TestChild/exclusion `, `RUN +TestChild/exclusion\n.*: start here: broken;`,
		`--- SKIP: TestChild/lease `, `RUN +TestChild/lease\n.*broken;.*; start with exclusion`,
	})
	out, err = child(t, t.TempDir(), lock, "lease")
	wantOutput(t, out, err, true, []string{`--- FAIL: TestChild/lease `, `broken;.*; start with exclusion`})
}

// TestExploreKeepsSchedules checks that a schedule that breaks a lock is run again: on
// request, and first of all if it was kept.
func TestExploreKeepsSchedules(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take their time")
	}
	t.Parallel()
	dir := t.TempDir()
	out, err := child(t, dir, []string{childVariable + "=plain-del", budget(120, 2000)})
	wantOutput(t, out, err, true, []string{`FAIL: TestChild/owner-release@outlived`})
	files, _ := filepath.Glob(filepath.Join(dir, "testdata/lockbench/TestChild/owner-release@outlived-*.replay"))
	if len(files) != 1 {
		t.Fatalf("%d files of schedules kept, want one: %s", len(files), out)
	}
	file, _ := filepath.Rel(dir, files[0])
	t.Run("asked for", func(t *testing.T) {
		out, err := child(t, dir, []string{childVariable + "=plain-del", "LOCKBENCH_REPLAY=" + file})
		wantOutput(t, out, err, true, []string{`FAIL: TestChild/owner-release@outlived`, regexp.QuoteMeta("LOCKBENCH_REPLAY=" + file)})
	})
	t.Run("kept", func(t *testing.T) {
		out, err := child(t, dir, []string{childVariable + "=plain-del", "LOCKBENCH_BUDGET=1"})
		wantOutput(t, out, err, true, []string{`FAIL: TestChild/owner-release@outlived`, regexp.QuoteMeta("LOCKBENCH_REPLAY=" + file)})
	})
	t.Run("of another lock", func(t *testing.T) {
		out, err := child(t, dir, []string{childVariable + "=sound"})
		wantOutput(t, out, err, false, []string{`PASS: TestChild/owner-release@outlived`, regexp.QuoteMeta(file) + `: step \d+`})
	})
}

// child runs TestChild in a program of its own, in dir, with all of its subtests or this one.
func child(t *testing.T, dir string, env []string, subtests ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+exactly(strings.Join(append([]string{"TestChild"}, subtests...), "/")), "-test.v", "-test.timeout=2m")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append([]string{budget(240, 600)}, env...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func wantOutput(t *testing.T, out string, err error, fails bool, patterns []string) {
	t.Helper()
	if (err != nil) != fails {
		t.Errorf("child ended with %v, want it to fail: %v", err, fails)
	}
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(out) {
			t.Errorf("no %s in what go test prints", p)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}
