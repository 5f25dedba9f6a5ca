package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bsm/redislock"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/locktest"
	"github.com/lockbench/lockbench/workloads"
)

// The tests of Try run in virtual time, on a server of the bubble, so that their findings do not
// depend on the machine's speed or load. TestRunRedislock runs in real time.

// TestTryPassesSoundLocks asserts that no guarantee is broken, and none untested.
func TestTryPassesSoundLocks(t *testing.T) {
	owners := map[string]func(*testing.T) func() (lockbench.Locker, error){"redislock": redislockOwners}
	for _, name := range []string{
		"lua-token/strategy", "mutants/bare", "mutants/drifting", "mutants/sound", "mutants/nested", "mutants/renewing", "mutants/full",
	} {
		d := lockNamed(t, name)
		owners[name] = func(t *testing.T) func() (lockbench.Locker, error) { return ownersOf(d, environment(t)) }
	}
	for name, owners := range owners {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if err := tried(t, owners(t)).Err(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func redislockOwners(t *testing.T) func() (lockbench.Locker, error) {
	t.Helper()
	client := redis.NewClient(servertest.Virtual(t, 1))
	t.Cleanup(func() { _ = client.Close() })
	return func() (lockbench.Locker, error) { return redislockLocker{redislock.New(client)}, nil }
}

// cases lists, for each test case, the program of package workloads that shows the same, whether the
// owners run it, why they are directed otherwise, the mutants that the case finds with the cells that
// they break, and which of these no other case finds.
var cases = []struct {
	name, program string
	runs          bool
	directed      string
	finds         map[string]string
	only          string
}{
	{"contend", "contend", true, "one lease is too long for 32 bits of milliseconds, and all owners ask at once, as a scheduler lets them in virtual time",
		map[string]string{"get-think-set": "exclusion", "process-token": "exclusion"}, ""},
	{"late-release", "stale-release", false, "a lock may keep a key for a second past its lease, so the next owner asks until it is granted it",
		map[string]string{"plain-del": "owner-release@outlived", "shared-token": "owner-release@outlived", "extend-anyone": "owner-release@outlived", "fence-expires": "fencing", "prefix-token": "owner-release@outlived"}, "prefix-token"},
	{"lease", "odd-leases", false, "the next owner has to ask at the very end of a lease, and nested leases end within others",
		map[string]string{"whole-seconds": "lease", "cut-millis": "lease", "drift-added": "lease", "first-lifetime": "lease", "inner-shortens": "lease", "equal-tokens": "owner-release@outlived"},
		"cut-millis first-lifetime inner-shortens equal-tokens"},
	{"extend", "extend", false, "the next owner has to ask all the time: on a slow machine one try would come too late",
		map[string]string{"extend-ignored": "lease", "release-unextended": "loss-reported"}, "release-unextended"},
	{"crash", "abandon", false, "an owner dies, which is a fault in virtual time, and no program can do it",
		map[string]string{"extend-millis": "recovery@crash", "extend-adds": "recovery@crash"}, ""},
	{"cancel", "", false, "contexts end, which is a fault in virtual time",
		map[string]string{"dead-queue": "recovery@cancel", "cancelled-grant": "exclusion@cancel lease@cancel"}, "cancelled-grant"},
	{"loss", "stale-release", false, "as late-release; it extends, too",
		map[string]string{"silent-loss": "loss-reported@outlived", "extend-recreates": "loss-reported@outlived"}, "extend-recreates"},
	{"nested", "reentrant", true, "", map[string]string{"inner-frees": "reentrancy"}, "inner-frees"},
	{"fences", "contend", true, "", map[string]string{"fence-first": "fencing"}, ""},
	{"update", "update", true, "", map[string]string{"get-think-set": "effects"}, ""},
	{"hand-over", "contend", true, "one owner waits for the release of another, which turns would leave to chance",
		map[string]string{"unreported-grant": "no-spurious-refusal"}, ""},
	{"odd-keys", "odd-keys", true, "", map[string]string{"newest-token": "loss-reported",
		"cut-64": "no-spurious-refusal", "cut-255": "no-spurious-refusal", "tag-is-key": "no-spurious-refusal", "hash-is-key": "no-spurious-refusal",
		"any-case": "no-spurious-refusal", "trimmed": "no-spurious-refusal", "cut-key": "no-spurious-refusal"},
		"newest-token cut-255 tag-is-key hash-is-key any-case trimmed cut-key"},
	{"renewed", "renewed", false, "as extend; TestRenewalsThatEnd has more locks that it finds",
		map[string]string{"shared-watchdog": "exclusion@outlived", "newest-watched": "exclusion@outlived"}, "shared-watchdog newest-watched"},
	{"wait", "wake-up", false, "a third owner has to ask when the wait is nearly over",
		map[string]string{"never-woken": "wake-up", "woken-late": "wake-up", "granted-when-over": "exclusion"}, "never-woken woken-late granted-when-over"},
	{"delay", "release-delay", false, "the others have to ask during the release itself",
		map[string]string{"release-then-delay": "release-delay", "delay-leaves-token": "release-delay"}, "release-then-delay delay-leaves-token"},
	{"over", "", false, "as cancel", map[string]string{"del-when-over": "owner-release@outlived"}, "del-when-over"},
}

// TestCases checks that the table lists each case and the program that its owners run, and that the
// catalogue says so of these programs.
func TestCases(t *testing.T) {
	var got [][2]string
	run, want := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		program := ""
		if c.runs {
			program = c.program
			run[program] = true
		}
		if c.program != "" {
			workloads.Must(c.program)
		}
		got = append(got, [2]string{c.name, program})
	}
	if diff := cmp.Diff(got, locktest.Cases()); diff != "" {
		t.Errorf("cases and their programs (-listed +locktest):\n%s", diff)
	}
	for _, p := range workloads.By(workloads.Tested) {
		want[p.Name] = true
	}
	if diff := cmp.Diff(run, want); diff != "" {
		t.Errorf("programs that cases run (-listed +catalogue):\n%s", diff)
	}
}

// TestTryFindsMutants checks that each case finds its mutants and, in long tests, that no other case
// finds those that only it finds. The mutants left out can only be caught with a scheduler, or with
// faults.
func TestTryFindsMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees in sound locks what it would see in these")
	}
	for _, c := range cases {
		for mutant, breaks := range c.finds {
			t.Run(c.name+"/"+mutant, func(t *testing.T) {
				d, only := find(t, mutant), slices.Contains(strings.Fields(c.only), mutant)
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { findsMutant(t, d, c.name, cellsOf(t, breaks), only) })
			})
		}
	}
}

// findsMutant performs only the test case that finds the fault, unless long tests are on.
func findsMutant(t *testing.T, d design.Design, test string, breaks []lockbench.Cell, only bool) {
	t.Helper()
	var options []locktest.RunOption
	owners := ownersOf(d, environment(t))
	switch strings.TrimPrefix(d.Name, "mutants/") {
	case "process-token", "shared-token":
		owners = threadsOf(t, d, environment(t))
	case "inner-frees":
		options = append(options, locktest.WithClaims("reentrancy"))
	}
	if d.Renews {
		options = append(options, locktest.WithRenewal())
	}
	if !longtest.On() {
		options = append(options, locktest.WithCase(test))
	}
	dir := t.TempDir()
	trial := tried(t, owners, append(options, locktest.WithHistories(dir))...)
	for _, cell := range breaks {
		wantBroken(t, trial, cell)
	}
	if !only {
		return
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.lbh"))
	for _, file := range files {
		if against := judgedAgain(t, file).Cells().Against(); len(against) > 0 && !strings.HasSuffix(file, "-"+test+".lbh") {
			t.Errorf("%s breaks %v, too", file, against)
		}
	}
}

// tried returns the result of testing a lock in virtual time.
func tried(t *testing.T, owners func() (lockbench.Locker, error), options ...locktest.RunOption) locktest.Result {
	t.Helper()
	if testing.Short() {
		options = append(options, locktest.WithShort())
	}
	return triedWhole(t, owners, options...)
}

// TestLooksThatRunOutOfTime checks that a lock with a client that times out early, on a busy
// machine, is not accused, but tested as soon as it answers.
func TestLooksThatRunOutOfTime(t *testing.T) {
	for _, c := range []struct {
		name     string
		timeouts int64 // of the first calls
		untested bool
	}{{"some", 5, false}, {"all", 1 << 20, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var left atomic.Int64
				left.Store(c.timeouts)
				s := newService(faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
					if left.Add(-1) >= 0 {
						return nil, fmt.Errorf("node #0: %w", os.ErrDeadlineExceeded)
					}
					return s.wait(ctx, key, opt)
				}})
				_, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil }, locktest.WithHistories(t.TempDir()),
					locktest.WithCases(lockbench.LeaseKept.At(0)))
				if c.untested != errors.Is(err, locktest.ErrUntested) || !c.untested && err != nil {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestServiceThatNeverAnswers checks that a call that outlasts the patience of the test is not
// taken for such a time-out, and is not made eight times.
func TestServiceThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		s := newService(faults{acquire: func(ctx context.Context, _ *service, _ string, _ lockbench.Options) (lockbench.Lease, error) {
			calls.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		_, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil }, locktest.WithHistories(t.TempDir()))
		if n := calls.Load(); err == nil || errors.Is(err, locktest.ErrUntested) || n == 0 || n > 3 {
			t.Errorf("%d calls, got %v", n, err)
		}
	})
}

// triedWhole is tried, with the same length under -short.
func triedWhole(t *testing.T, owners func() (lockbench.Locker, error), options ...locktest.RunOption) locktest.Result {
	t.Helper()
	trial, err := locktest.Try(t.Context(), owners, append([]locktest.RunOption{locktest.WithHistories(t.TempDir())}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

// TestTrySurvivesWildLocks checks that Try reports locks that break their contract, and returns.
func TestTrySurvivesWildLocks(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults func(over <-chan struct{}) faults
		err    string // of Try
		fails  string // or the case
		want   string
	}{
		{name: "blocks for ever", faults: never, err: "acquire a free key: Acquire did not return, 1s after its context had ended; hint: "},
		{name: "returns nil", faults: leaseless, err: "acquire a free key: Acquire returned neither a lease nor an error; hint: "},
		{name: "refuses without an error", faults: silent, err: "acquire a key that another owner holds: Acquire returned neither"},
		{name: "blocks later", faults: neverLater, fails: "exclusion", want: "exclusion: Acquire did not return, 1s after"},
		{name: "ignores its context", faults: deaf, fails: "recovery@cancel", want: "recovery@cancel: Acquire did not return, 1s after"},
		{name: "refuses in its own words", faults: wordy, err: "acquire a key that another owner holds: taken; hint: return an error that wraps"},
		{name: "never ends", faults: eternal, fails: "recovery@crash", want: "recovery@crash: untested, what is held outlasts its lease"},
		{name: "panics", faults: panicking, fails: "loss-reported@outlived", want: "loss-reported@outlived: Release panicked: no such lock\n"},
		{name: "ends its goroutine", faults: exiting, fails: "loss-reported@outlived", want: "loss-reported@outlived: Release ended its goroutine; hint: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				defer func() { // releases the goroutines that Try left behind
					close(over)
					time.Sleep(time.Second)
				}()
				s := newService(c.faults(over))
				trial, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil },
					locktest.WithTTL(200*time.Millisecond), locktest.WithPatience(time.Second), locktest.WithHistories(t.TempDir()))
				if c.err == "" && err == nil {
					err = testOf(trial, cellOf(t, c.fails)).Err
				}
				if want := c.err + c.want; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want %q in it", err, want)
				}
			})
		})
	}
}

func TestTryTellsWhatIsWrongWithItsSettings(t *testing.T) {
	for _, c := range []struct {
		name, variable, value string
		option                locktest.RunOption
		want                  string
	}{
		{name: "a lease", option: locktest.WithTTL(0), want: "a lease of 0s is too short to be tested; hint: "},
		{name: "a tolerance", option: locktest.WithTolerance(-1), want: "a tolerance of -1ns "},
		{name: "a variable", variable: "LOCKBENCH_TTL", value: "long", want: `LOCKBENCH_TTL="long" is no time; hint: like 2s`},
		{name: "a claim", variable: "LOCKBENCH_CLAIMS", value: "speed", want: `LOCKBENCH_CLAIMS="speed": claim "speed": unknown guarantee "speed"; hint: `},
		{name: "no owner", option: locktest.WithSeed(1), want: "newLocker returned neither a Locker nor an error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var options []locktest.RunOption
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			} else {
				options = append(options, c.option)
			}
			_, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return nil, nil }, options...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestTryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newService(faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
			if s.calls.Load() > 100 {
				cancel()
			}
			return s.wait(ctx, key, opt)
		}})
		_, err := locktest.Try(ctx, func() (lockbench.Locker, error) { return s, nil }, locktest.WithHistories(t.TempDir()))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want %v", err, context.Canceled)
		}
	})
}

// TestTryKeepsHistories checks that all histories are kept if asked for.
func TestTryKeepsHistories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	t.Setenv("LOCKBENCH_HISTORY", dir)
	synctest.Test(t, func(t *testing.T) {
		s := newService(faults{})
		trial, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil },
			locktest.WithTTL(100*time.Millisecond), locktest.WithShort())
		if err := errors.Join(err, trial.Err()); err != nil {
			t.Fatal(err)
		}
		for _, c := range trial.Tests {
			if c.Skipped != "" {
				continue
			}
			if r := judgedAgain(t, c.History); r.Grants == 0 || r.Partial {
				t.Errorf("%s: %d grants, partial %v (%s)", c.History, r.Grants, r.Partial, r.Why)
			}
		}
	})
}

// wantBroken asserts that cell fails, and that its history shows why.
func wantBroken(t *testing.T, trial locktest.Result, cell lockbench.Cell) {
	t.Helper()
	c := testOf(trial, cell)
	if c.Verdict != checker.Broken || c.Err == nil {
		t.Errorf("%s: got %v (%s) with error %v, want it broken; of all: %v", cell, c.Verdict, c.Note, c.Err, trial.Err())
		return
	}
	if f := judgedAgain(t, c.History).Find(cell); f.Verdict != checker.Broken {
		t.Errorf("%s: %s says %v, want it broken", cell, c.History, f.Verdict)
	}
	waited := strings.HasSuffix(c.History, "-wait.lbh") // it is unknown since when such a grant is valid
	if cell == lockbench.Exclusion.At(0) && !waited && len(endOf(t, c.History).Trailer.MonitorOverlaps) == 0 {
		t.Errorf("%s: the monitor of %s saw no two at a time", cell, c.History)
	}
}

// A cellTest is the finding on a cell and its test.
type cellTest struct {
	checker.CellFinding
	locktest.Test
}

// testOf returns the test of cell, an empty one if there is none.
func testOf(r locktest.Result, cell lockbench.Cell) cellTest {
	return cellTest{checker.CellFinding{Cell: cell, Finding: r.Cells[cell]}, r.Tests[cell]}
}

// cellsOf reads cells, separated by spaces.
func cellsOf(t *testing.T, text string) (all []lockbench.Cell) {
	t.Helper()
	for name := range strings.FieldsSeq(text) {
		all = append(all, cellOf(t, name))
	}
	return all
}

// judgedAgain returns the judgement of lockbench check on a file.
func judgedAgain(t *testing.T, file string) checker.Result {
	t.Helper()
	src, err := history.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := checker.Check(src)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// endOf reads a history to its end.
func endOf(t *testing.T, file string) history.End {
	t.Helper()
	src, err := history.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
	}
	return src.End()
}

// lockNamed returns a mutant, a sound lock or one of the catalogue.
func lockNamed(t *testing.T, name string) design.Design {
	t.Helper()
	if mutant, ok := strings.CutPrefix(name, "mutants/"); ok {
		return find(t, mutant)
	}
	for _, d := range impls.All() {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no design %q", name)
	return design.Design{}
}

// ownersOf makes owners of d, each in a process of its own.
func ownersOf(d design.Design, env onredis.Environment) func() (lockbench.Locker, error) {
	return func() (lockbench.Locker, error) {
		env.PID++
		p, err := d.Open(env.General())
		if err != nil {
			return nil, err
		}
		return adapter{p.Locker(design.Blind), p}, nil
	}
}

// threadsOf makes owners of d in one process.
func threadsOf(t *testing.T, d design.Design, env onredis.Environment) func() (lockbench.Locker, error) {
	t.Helper()
	env.Pool = 64
	p, err := d.Open(env.General())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return func() (lockbench.Locker, error) { return p.Locker(design.Blind), nil }
}

// environment returns an environment with a server in the bubble of t.
func environment(t *testing.T) onredis.Environment {
	t.Helper()
	return onredis.Environment{
		Environment: design.Environment{Host: "locktest", Now: time.Now, Random: rand.Reader, Pool: 4},
		Redis:       servertest.Virtual(t, 1),
	}
}

// TestTryKnowsWhatTheServerRefused checks that a lock that takes every error for a refusal, or for
// a loss, is not accused if the server refused to run its commands, and is accused if it makes that
// up.
func TestTryKnowsWhatTheServerRefused(t *testing.T) {
	denied := errors.New("NOPERM this user has no permissions to run the 'evalsha' command")
	for _, c := range []struct {
		name   string
		cause  error
		broken bool
	}{
		{"denied", denied, false},
		{"made up", errors.New("no reason"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
					if strings.Count(key, "/") < 3 { // not of a case, but of the looks before the cases
						return s.wait(ctx, key, opt)
					}
					return nil, fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, c.cause)
				}})
				found, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil })
				if err != nil {
					t.Fatal(err)
				}
				if found.Err() == nil {
					t.Error("it passes, though it never granted a key")
				}
				if broken := len(found.Cells.With(checker.Broken)) > 0; broken != c.broken {
					t.Errorf("broken: %v, want %v\n%v", broken, c.broken, found.Err())
				}
			})
		})
	}
}

// TestTryKeyPrefix checks that all keys have the prefix.
func TestTryKeyPrefix(t *testing.T) {
	const prefix = "app:{1}:"
	synctest.Test(t, func(t *testing.T) {
		var keys, outside atomic.Int64
		s := newService(faults{})
		s.acquire = func(ctx context.Context, inner *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
			keys.Add(1)
			if !strings.HasPrefix(key, prefix+"locktest-") {
				outside.Add(1)
			}
			return inner.wait(ctx, key, opt)
		}
		_, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil },
			locktest.WithTTL(100*time.Millisecond), locktest.WithShort(), locktest.WithKeyPrefix(prefix))
		if err != nil || keys.Load() == 0 || outside.Load() > 0 {
			t.Errorf("of %d acquires %d are of keys without the prefix %q, error %v", keys.Load(), outside.Load(), prefix, err)
		}
	})
}

// TestTryCauses checks that a lock that has two owners fails for that, and not again for the updates
// that this loses; but that a panic beside lost updates fails by itself.
func TestTryCauses(t *testing.T) {
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprintf("panics %t", panics), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var grants atomic.Int64
				s := newService(faults{acquire: func(ctx context.Context, s *service, key string, opt lockbench.Options) (lockbench.Lease, error) {
					if !strings.Contains(key, "/update/") {
						return s.wait(ctx, key, opt)
					}
					if grants.Add(1) == 40 && panics {
						panic("no more")
					}
					return &memoryLease{service: newService(faults{}), key: key, until: time.Now().Add(opt.TTL)}, nil
				}, release: func(_ context.Context, l *memoryLease) error {
					if err := l.free(); !strings.Contains(l.key, "/update/") {
						return err
					}
					return nil
				}})
				trial := triedWhole(t, func() (lockbench.Locker, error) { return s, nil }, locktest.WithCases(lockbench.Effects.At(0)))
				cause := lockbench.Exclusion.At(0)
				if panics {
					cause = lockbench.Cell{}
				}
				lost := testOf(trial, lockbench.Effects.At(0))
				if lost.Err == nil || lost.Cause != cause || testOf(trial, lockbench.Exclusion.At(0)).Err == nil {
					t.Errorf("lost updates: %v, cause %q; want cause %q, and both to fail", lost.Err, lost.Cause, cause)
				}
			})
		})
	}
}
