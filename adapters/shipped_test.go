//go:build unix

package adapters_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/adapters"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/etcd"
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

// TestShipped checks each adapter whose libraries are installed, runs its lock for a moment, and runs a
// twin that breaks the lock.
func TestShipped(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range adapters.AllShipped() {
		t.Run(s.Name, func(t *testing.T) {
			libraries := need(t, s.Language)
			if s.Language != "java" { // whose programs take a second of a processor to start
				t.Parallel()
			}
			command := s.Shell(here, libraries)
			retry(t, "check", func() error {
				err := checkShipped(t, command, s)
				switch {
				case s.Unsound == "":
					return err
				case s.ByCheck && err == nil:
					return fmt.Errorf("no question shows that %s", s.Unsound)
				}
				return nil
			})
			most := 3 * time.Second
			retry(t, "run", func() error {
				exit, err := run(t.Context(), t, command, most)
				most *= 2 // a busy machine gets to do too little in so short a time
				switch broken := exit == results.BrokenClaim; {
				case err != nil:
					return err
				case broken && s.Unsound == "":
					t.Error("a run broke a claim of a lock that is believed to be sound")
				case exit != 0 && s.Unsound == "":
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

// TestEtcdIssues checks what docs/libraries.md says of two issues of etcd.
func TestEtcdIssues(t *testing.T) {
	libraries := need(t, "go")
	server, err := etcd.Start(t.Context())
	servertest.Need(t, err)
	defer server.Close()
	said, err := exec.CommandContext(t.Context(), filepath.Join(libraries, "go", "etcd-issues"), server.Address()).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	text, err := os.ReadFile("../docs/libraries.md")
	if err != nil {
		t.Fatal(err)
	}
	paper := strings.Join(strings.Fields(string(text)), " ")
	for line := range strings.Lines(string(said)) {
		if !strings.Contains(paper, strings.TrimSpace(line)) {
			t.Errorf("docs/libraries.md does not have %s", line)
		}
	}
	if n, err := server.Sweep(t.Context(), "/lockbench-"); n > 0 || err != nil {
		t.Errorf("%d keys are left, error %v", n, err)
	}
}

// TestEtcdLosesLeaders checks that a lock on three members of etcd, whose leaders are killed, breaks no claim.
func TestEtcdLosesLeaders(t *testing.T) {
	libraries := need(t, "go")
	servertest.Need(t, etcd.Missing())
	command := adapters.MustShipped("etcd/mutex").Shell(".", libraries)
	retry(t, "run", func() error {
		exit, err := run(t.Context(), t, command, 5*time.Second, "leader-lost,at=100ms,every=1s,while=held")
		switch {
		case exit == results.BrokenClaim:
			t.Error("a run broke a claim of a lock that is believed to be sound")
		case err == nil && exit != 0:
			err = fmt.Errorf("exit %d, want 0", exit)
		}
		return err
	})
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
func checkShipped(t *testing.T, command string, s adapters.Shipped) (failed error) {
	t.Helper()
	hello, found, err := adapter.Check(t.Context(), command, func(b design.Backend) (env design.Environment, err error) {
		var server design.Service
		if b == nil {
			server = servertest.Start(t)
		} else {
			opened, err := b.Open(t.Context(), nil, 1)
			servertest.Need(t, err)
			server = opened[0]
			t.Cleanup(func() { _ = server.Close() }) // it is no part of this test
		}
		return design.Environment{Services: []any{server.Reach()}, Prefix: "lockbench:01234567:", Random: rand.Reader, Now: time.Now}, err
	})
	if err != nil {
		return err
	}
	if hello.Name != s.Name {
		failed = fmt.Errorf("its name is %q, want %q", hello.Name, s.Name)
	}
	for _, p := range found {
		if p.Err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.Name, p.Err))
		}
	}
	return failed
}

// run runs a few clients of an adapter under faults until a claim breaks, at most for so long.
func run(ctx context.Context, t *testing.T, command string, most time.Duration, faults ...string) (exit int, err error) {
	t.Helper()
	d, err := adapter.Design(ctx, command)
	if err != nil {
		return 0, err
	}
	p := runner.Plan{Subjects: []runner.Subject{{Design: d}}, Workload: workloads.Must("oversell"), Options: workloads.Defaults(), FailFast: true, History: t.TempDir(), Faults: faults}
	p.Options.Clients, p.Options.Keys, p.Options.Stallers = 3, 1, 0
	p.Options.TTL, p.Options.Wait, p.Options.Hold = time.Second, 200*time.Millisecond, workloads.Always(time.Millisecond)
	p.Options.Duration = most
	result, err := runner.Run(ctx, p)
	if len(result.Runs) > 0 {
		err = errors.Join(err, result.Runs[0].Err)
	}
	return result.Exit(), err
}
