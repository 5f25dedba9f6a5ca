//go:build unix

package adapters_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/results"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

const (
	// librariesVariable is the folder that adapters/install filled; requireVariable makes a language that
	// is not installed there a failure.
	librariesVariable = "LOCKBENCH_ADAPTERS"
	requireVariable   = "LOCKBENCH_REQUIRE_ADAPTERS"
)

// A shipped is an adapter that comes with lockbench.
type shipped struct {
	language string
	name     string // of its design
	// command is for a shell: {here} is the folder of adapters, {libraries} that of adapters/install.
	command string
	// unsound says what is wrong with the lock; empty for a lock that is believed to be sound.
	unsound string
	// shown is what shows it: byCheck or byRun; empty if that is chance, or needs more than the test does.
	shown string
}

// What shows that a lock is unsound.
const (
	byCheck = "check"
	byRun   = "run"
)

// shell returns the command of the adapter. here is the folder adapters, and libraries the folder
// that adapters/install filled.
func (s shipped) shell(here, libraries string) string {
	return strings.NewReplacer("{here}", here, "{libraries}", libraries).Replace(s.command)
}

// unsound returns s with why it is unsound and, if that is sure, what shows it.
func unsound(s shipped, why []string) shipped {
	if len(why) > 0 {
		s.unsound = why[0]
	}
	if len(why) > 1 {
		s.shown = why[1]
	}
	return s
}

// allShipped returns the adapters that come with lockbench, language by language.
func allShipped() []shipped {
	python := func(words, name string, why ...string) shipped {
		return unsound(shipped{language: "python", name: name, command: "exec {libraries}/python/bin/python -B {here}/python/" + words}, why)
	}
	node := func(words, name string, why ...string) shipped {
		return unsound(shipped{language: "node", name: name, command: "NODE_PATH={libraries}/node/node_modules exec node {here}/node/" + words}, why)
	}
	php := func(file, name string, why ...string) shipped {
		return unsound(shipped{language: "php", name: name, command: "exec php {here}/php/" + file}, why)
	}
	java := func(words, name string, why ...string) shipped {
		return unsound(shipped{language: "java", name: name, command: "exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -cp {libraries}/java/adapters.jar lockbench." + words}, why)
	}
	rust := func(file, name string, why ...string) shipped {
		return unsound(shipped{language: "rust", name: name, command: "exec {libraries}/rust/release/" + file}, why)
	}
	return []shipped{
		python("redis_py.py", "redis-py/lock"),
		python("redis_py_asyncio.py", "redis-py/asyncio-lock"),
		python("redis_py.py reacquire", "redis-py/lock-reacquire"),
		python("python_redis_lock.py", "python-redis-lock/lock"),
		python("pottery_redlock.py", "pottery/redlock"),
		python("get_del.py", "get-del/redis-py", "GET and DEL are two commands"),
		node("redlock.js", "redlock/beta"),
		node("redlock.js sesamecare", "redlock/sesamecare"),
		node("redis-semaphore.js", "redis-semaphore/mutex"),
		node("redis-semaphore.js 5.3", "redis-semaphore/mutex-5.3", "a refresh takes a lost lock again"),
		node("simple-redis-mutex.js", "simple-redis-mutex/try-lock", "the release of a key with a quote ends every process of it", byCheck),
		node("naive.js", "naive/ioredis", "DEL frees whatever is there", byCheck),
		php("symfony.php", "symfony/redis", "an owner that dies in acquire leaves the key for 300 s", byCheck),
		php("laravel.php", "laravel/redis"),
		php("symfony-flock.php", "symfony/flock"),
		php("laravel-file.php", "laravel/file", "its files let several in", byRun),
		php("document.php", "php-document/timestamp", "the faults of its document", byCheck),
		java("RedissonLock", "redisson/lock"),
		java("RedissonWatchdog", "redisson/watchdog"),
		java("RedissonFair", "redisson/fair", "the release of a lost lock is answered as that of a held one while nobody else has it"),
		java("SpringIntegration", "spring-integration/spin"),
		java("ShedLock", "shedlock/redis", "an unlock deletes whatever is there", byCheck),
		java("ShedLock safe", "shedlock/redis-safe"),
		rust("rslock", "rslock/lock-manager"),
		rust("redis_lock", "redis-lock/multi-resource", "a lease in ms is taken for seconds", byCheck),
	}
}

// TestShipped checks each adapter whose libraries are installed, runs its lock for a moment, and runs a
// twin that breaks the lock.
func TestShipped(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range allShipped() {
		t.Run(s.name, func(t *testing.T) {
			libraries := need(t, s.language)
			if s.language != "java" { // whose programs take a second of a processor to start
				t.Parallel()
			}
			command := s.shell(here, libraries)
			retry(t, "check", func() error {
				err := checkShipped(t, command, s)
				switch {
				case s.unsound == "":
					return err
				case s.shown == byCheck && err == nil:
					return fmt.Errorf("no question shows that %s", s.unsound)
				}
				return nil
			})
			retry(t, "run", func() error {
				exit, err := run(t.Context(), t, command, 3*time.Second)
				switch broken := exit == results.BrokenClaim; {
				case err != nil:
					return err
				case broken && s.unsound == "":
					t.Error("a run broke a claim of a lock that is believed to be sound")
				case !broken && s.shown == byRun:
					return fmt.Errorf("no claim was broken, although %s", s.unsound)
				case exit != 0 && s.unsound == "":
					return fmt.Errorf("exit %d, want 0", exit)
				}
				return nil
			})
			retry(t, "twin", func() error {
				exit, err := run(t.Context(), t, "LOCKBENCH_BREAK=grant; export LOCKBENCH_BREAK; "+command, 30*time.Second)
				if err == nil && exit != results.BrokenClaim {
					err = fmt.Errorf("exit %d, want %d", exit, results.BrokenClaim)
				}
				return err
			})
		})
	}
}

// retry calls f until it returns nil, a few times: the libraries have time-outs of their own, which a
// busy machine exceeds.
func retry(t *testing.T, what string, f func() error) {
	t.Helper()
	const times = 4
	for i := range times {
		err := f()
		switch {
		case err == nil:
			return
		case i == times-1:
			t.Errorf("%s: %v", what, err)
		default:
			t.Logf("%s, again: %v", what, err)
		}
	}
}

// need returns the folder of the libraries. It skips the test if a language is not installed there.
func need(t *testing.T, language string) string {
	t.Helper()
	libraries := os.Getenv(librariesVariable)
	_, err := os.Stat(filepath.Join(libraries, language+".installed"))
	switch {
	case libraries != "" && err == nil:
		return libraries
	case os.Getenv(requireVariable) != "":
		t.Fatalf("no libraries of %s; hint: adapters/install DIR, and %s=DIR", language, librariesVariable)
	}
	t.Skipf("no libraries of %s; hint: adapters/install DIR, and %s=DIR", language, librariesVariable)
	return ""
}

// checkShipped returns an error for the questions that are answered wrongly.
func checkShipped(t *testing.T, command string, s shipped) (failed error) {
	t.Helper()
	server := servertest.Start(t)
	env := design.Environment{Services: []any{server.Reach()}, Prefix: "lockbench:01234567:", Random: rand.Reader, Now: time.Now}
	hello, found, err := adapter.Check(t.Context(), command, env)
	if err != nil {
		return err
	}
	if hello.Name != s.name {
		failed = fmt.Errorf("its name is %q, want %q", hello.Name, s.name)
	}
	for _, p := range found {
		if p.Err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.Name, p.Err))
		}
	}
	return failed
}

// run runs a few clients of an adapter until a claim breaks, at most for so long.
func run(ctx context.Context, t *testing.T, command string, most time.Duration) (exit int, err error) {
	t.Helper()
	d, err := adapter.Design(ctx, command)
	if err != nil {
		return 0, err
	}
	p := runner.Plan{Subjects: []runner.Subject{{Design: d}}, Workload: workloads.Must("oversell"), Options: workloads.Defaults(), FailFast: true, History: t.TempDir()}
	p.Options.Clients, p.Options.Keys, p.Options.Stallers = 3, 1, 0
	p.Options.TTL, p.Options.Wait, p.Options.Hold = time.Second, 200*time.Millisecond, workloads.Always(time.Millisecond)
	p.Options.Duration = most
	result, err := runner.Run(ctx, p)
	if len(result.Runs) > 0 {
		err = errors.Join(err, result.Runs[0].Err)
	}
	return result.Exit(), err
}
