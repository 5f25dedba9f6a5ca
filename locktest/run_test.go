package locktest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/servertest"
	"github.com/lockbench/lockbench/locktest"
	"github.com/lockbench/lockbench/servers"
	"github.com/redis/go-redis/v9"
)

// TestRunRedislock tests github.com/bsm/redislock v0.10.0, unmodified, in real time.
func TestRunRedislock(t *testing.T) {
	client := redis.NewClient(servertest.Start(t).Options())
	t.Cleanup(func() { _ = client.Close() })
	t.Parallel()
	locktest.Run(t, func(*testing.T) lockbench.Locker { return redislockLocker{redislock.New(client)} })
}

// TestTryPassesSoundLocks tests them beside each other, so that each is slowed down. A
// guarantee may stay untested for that, as Run says.
func TestTryPassesSoundLocks(t *testing.T) {
	server := servertest.Start(t)
	t.Parallel()
	all := trials{enough: func(_ string, trial locktest.Trial) bool {
		return trial.Err() == nil || slices.ContainsFunc(trial.Cases, func(c locktest.Case) bool {
			return c.Err != nil && c.Verdict != checker.Untested
		})
	}}
	for _, name := range []string{
		"lua-token/strategy", "zoo/bare", "zoo/sound", "zoo/nested", "zoo/renewing", "zoo/full",
	} {
		all.begin(t, name, ownersOf(lockNamed(t, name), environment(server)))
	}
	all.each(t, func(t *testing.T, trial locktest.Trial) {
		if err := trial.Err(); err != nil {
			t.Error(err)
		}
	})
}

// TestTryFindsMutants has each lock fail the case that is named after what it
// breaks. Those of the zoo that are left out need a scheduler, or faults, or like
// drift-added a machine that is never 12 ms late.
func TestTryFindsMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("many locks at one time are too much for a program that is watched for races")
	}
	breaks := map[string][]lockbench.Guarantee{
		"get-think-set":      {lockbench.Exclusion, lockbench.Effects},
		"process-token":      {lockbench.Exclusion},
		"plain-del":          {lockbench.OwnerRelease},
		"equal-tokens":       {lockbench.OwnerRelease},
		"shared-token":       {lockbench.OwnerRelease},
		"extend-anyone":      {lockbench.OwnerRelease},
		"whole-seconds":      {lockbench.NoEarlyExpiry},
		"first-lifetime":     {lockbench.NoEarlyExpiry},
		"inner-shortens":     {lockbench.NoEarlyExpiry},
		"extend-millis":      {lockbench.Recovery},
		"silent-loss":        {lockbench.LossReported},
		"extend-recreates":   {lockbench.LossReported},
		"extend-ignored":     {lockbench.Extend},
		"inner-frees":        {lockbench.Reentrancy},
		"fence-first":        {lockbench.Fencing},
		"fence-expires":      {lockbench.Fencing},
		"unreported-grant":   {lockbench.NoSpuriousRefusal},
		"dead-queue":         {lockbench.Cancel},
		"cancelled-grant":    {lockbench.Cancel},
		"release-then-delay": {lockbench.ReleaseDelay},
		"delay-forgives":     {lockbench.ReleaseDelay},
	}
	server := servertest.Start(t)
	t.Parallel()
	all := trials{enough: func(mutant string, trial locktest.Trial) bool {
		missed := func(g lockbench.Guarantee) bool { return caseOf(trial, g).Verdict != checker.Broken }
		return !slices.ContainsFunc(breaks[mutant], missed)
	}}
	for mutant := range breaks {
		owners, options := ownersOf(find(t, mutant), environment(server)), []locktest.Option(nil)
		switch mutant {
		case "process-token", "shared-token":
			owners = threadsOf(t, find(t, mutant), environment(server))
		case "inner-frees":
			options = append(options, locktest.WithClaims(lockbench.Reentrancy))
		}
		all.begin(t, mutant, owners, options...)
	}
	all.each(t, func(t *testing.T, trial locktest.Trial) {
		for _, g := range breaks[strings.TrimPrefix(t.Name(), "TestTryFindsMutants/")] {
			wantBroken(t, trial, g)
		}
	})
}

// trials are some that are under way at one time: most of it they wait for leases to
// end.
type trials struct {
	// enough tells whether a trial shows what is looked for.
	enough func(name string, trial locktest.Trial) bool
	under  sync.WaitGroup
	mu     sync.Mutex
	found  map[string]locktest.Trial
}

// leases are those to ask for, one after the other until that shows enough: a machine may
// be busy, and then Run wants longer ones. They are no whole numbers of each other.
var leases = []time.Duration{time.Second, 2500 * time.Millisecond, 5500 * time.Millisecond}

func (all *trials) begin(t *testing.T, name string, owners func() (lockbench.Locker, error), options ...locktest.Option) {
	t.Helper()
	dir := t.TempDir()
	all.under.Go(func() {
		var trial locktest.Trial
		for _, ttl := range leases {
			var err error
			trial, err = locktest.Try(t.Context(), owners, append(slices.Clip(options), locktest.WithHistories(dir), locktest.WithTTL(ttl))...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			if all.enough(name, trial) {
				break
			}
		}
		all.mu.Lock()
		defer all.mu.Unlock()
		if all.found == nil {
			all.found = map[string]locktest.Trial{}
		}
		all.found[name] = trial
	})
}

// each looks at every trial when all are over.
func (all *trials) each(t *testing.T, look func(*testing.T, locktest.Trial)) {
	t.Helper()
	all.under.Wait()
	for name, trial := range all.found {
		t.Run(name, func(t *testing.T) { look(t, trial) })
	}
}

// wantBroken wants g to fail, and its history to show why.
func wantBroken(t *testing.T, trial locktest.Trial, g lockbench.Guarantee) {
	t.Helper()
	c := caseOf(trial, g)
	if c.Verdict != checker.Broken || c.Err == nil {
		t.Errorf("%s: got %v (%s) with error %v, want it broken; of all: %v", g, c.Verdict, c.Note, c.Err, trial.Err())
		return
	}
	if f := judgedAgain(t, c.History).Find(g); f.Verdict != checker.Broken {
		t.Errorf("%s: %s says %v, want it broken", g, c.History, f.Verdict)
	}
	if g == lockbench.Exclusion && len(endOf(t, c.History).Trailer.WitnessOverlaps) == 0 {
		t.Errorf("%s: the witness of %s saw no two at a time", g, c.History)
	}
}

func caseOf(trial locktest.Trial, g lockbench.Guarantee) locktest.Case {
	return trial.Cases[slices.IndexFunc(trial.Cases, func(c locktest.Case) bool { return c.Guarantee == g })]
}

// judgedAgain is what lockbench check says of a file.
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

// TestTrySurvivesWildLocks has locks do what no lock may. Try says so and returns.
func TestTrySurvivesWildLocks(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults func(over <-chan struct{}) faults
		err    string              // of Try
		fails  lockbench.Guarantee // or the case
		want   string
	}{
		{name: "blocks for ever", faults: never, err: "acquire a free key: Acquire did not return, 1s after its context had ended; hint: "},
		{name: "returns nil", faults: leaseless, err: "acquire a free key: Acquire returned neither a lease nor an error; hint: "},
		{name: "refuses without an error", faults: silent, err: "acquire a key that another owner holds: Acquire returned neither"},
		{name: "blocks later", faults: neverLater, fails: lockbench.Exclusion, want: "exclusion: Acquire did not return, 1s after"},
		{name: "ignores its context", faults: deaf, fails: lockbench.Cancel, want: "cancel: Acquire did not return, 1s after"},
		{name: "refuses in its own words", faults: wordy, err: "acquire a key that another owner holds: taken; hint: return an error that wraps"},
		{name: "never ends", faults: eternal, fails: lockbench.Recovery, want: "recovery: untested, what is held outlasts its lease"},
		{name: "panics", faults: panicking, fails: lockbench.LossReported, want: "loss-reported: Release panicked: no such lock\n"},
		{name: "ends its goroutine", faults: exiting, fails: lockbench.LossReported, want: "loss-reported: Release ended its goroutine; hint: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			defer close(over) // lets go of what Try left behind
			s := newService(c.faults(over))
			trial, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil },
				locktest.WithTTL(200*time.Millisecond), locktest.WithPatience(time.Second), locktest.WithHistories(t.TempDir()))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got error %v, want %q in it", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := caseOf(trial, c.fails).Err; got == nil || !strings.Contains(got.Error(), c.want) {
				t.Errorf("got case error %v, want %q in it", got, c.want)
			}
		})
	}
}

func TestTryTellsWhatIsWrongWithItsSettings(t *testing.T) {
	for _, c := range []struct {
		name, variable, value string
		option                locktest.Option
		want                  string
	}{
		{name: "a lease", option: locktest.WithTTL(0), want: "a lease of 0s is too short to be tested; hint: "},
		{name: "a tolerance", option: locktest.WithTolerance(-1), want: "a tolerance of -1ns "},
		{name: "a variable", variable: "LOCKBENCH_TTL", value: "long", want: `LOCKBENCH_TTL="long" is no time; hint: like 2s`},
		{name: "a claim", variable: "LOCKBENCH_CLAIMS", value: "speed", want: `LOCKBENCH_CLAIMS: "speed" is no guarantee; hint: `},
		{name: "no owner", option: locktest.WithSeed(1), want: "newLocker returned neither a Locker nor an error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var options []locktest.Option
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
	t.Parallel()
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
}

// TestTryKeepsHistories wants all of them where they are asked for.
func TestTryKeepsHistories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	t.Setenv("LOCKBENCH_HISTORY", dir)
	s := newService(faults{})
	trial, err := locktest.Try(t.Context(), func() (lockbench.Locker, error) { return s, nil },
		locktest.WithTTL(100*time.Millisecond), locktest.WithShort())
	if err := errors.Join(err, trial.Err()); err != nil {
		t.Fatal(err)
	}
	for _, c := range trial.Cases {
		if c.Skipped != "" {
			continue
		}
		if r := judgedAgain(t, c.History); r.Grants == 0 || r.Partial {
			t.Errorf("%s: %d grants, partial %v (%s)", c.History, r.Grants, r.Partial, r.Why)
		}
	}
}

// runVariable has TestRunChild, run again by the test below, test a lock that is not
// sound.
const runVariable = "LOCKTEST_RUN"

func TestRunChild(t *testing.T) {
	if os.Getenv(runVariable) == "" {
		t.Skip("for the child of TestRun only")
	}
	s := newService(faults{release: plainDel})
	locktest.Run(t, func(*testing.T) lockbench.Locker { return s }, locktest.WithTTL(100*time.Millisecond))
}

// TestRun looks at what go test prints of a lock that is not sound, and does what it
// is told to there.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for leases to end")
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunChild$", "-test.v")
	cmd.Env = append(os.Environ(), runVariable+"=1", "LOCKBENCH_HISTORY="+t.TempDir(), "LOCKBENCH_SEED=3")
	out, err := cmd.CombinedOutput()
	wantOutput(t, string(out), err, true, []string{
		`--- FAIL: TestRunChild/owner-release`, `RUN +TestRunChild/owner-release\n.*owner-release: broken;`,
		`--- PASS: TestRunChild/no-spurious-refusal`, `--- SKIP: TestRunChild/restart`, `with leases of 100ms and seed 3\n`,
	})
	again := regexp.MustCompile(`judge it again: lockbench check (\S+owner-release\.lbh)\n`).FindStringSubmatch(string(out))
	if again == nil {
		t.Fatalf("no command to judge it again:\n%s", out)
	}
	if f := judgedAgain(t, again[1]).Find(lockbench.OwnerRelease); f.Verdict != checker.Broken {
		t.Errorf("%s: judged again owner-release is %v, want broken", again[1], f.Verdict)
	}
}

// lockNamed returns a lock of the zoo or of the catalogue.
func lockNamed(t *testing.T, name string) design.Design {
	t.Helper()
	if animal, ok := strings.CutPrefix(name, "zoo/"); ok {
		return find(t, animal)
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
func ownersOf(d design.Design, env design.Environment) func() (lockbench.Locker, error) {
	return func() (lockbench.Locker, error) {
		env.PID++
		p, err := d.Open(env)
		if err != nil {
			return nil, err
		}
		return animal{p.Locker(design.Blind), p}, nil
	}
}

// threadsOf makes owners of d in one process.
func threadsOf(t *testing.T, d design.Design, env design.Environment) func() (lockbench.Locker, error) {
	t.Helper()
	env.Pool = 64
	p, err := d.Open(env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return func() (lockbench.Locker, error) { return p.Locker(design.Blind), nil }
}

func environment(server *servers.Server) design.Environment {
	return design.Environment{
		Redis: server.Options(), Host: "locktest", Now: time.Now, Random: rand.Reader, Pool: 4,
		Prefix: servers.NewPrefix(),
	}
}
