//go:build unix

package adapter_test

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// environment is one on an embedded server.
func environment(t *testing.T) design.Environment {
	t.Helper()
	s, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return design.Environment{Services: []any{s.Reach()}, Prefix: "lockbench:01234567:", Random: rand.Reader, Now: time.Now}
}

// on opens an embedded Redis.
func on(t *testing.T) adapter.Opener {
	return func(b design.Backend) (design.Environment, error) {
		if b != nil {
			t.Errorf("backend %s, want Redis", b.Name())
		}
		return environment(t), nil
	}
}

// stampsProbe is the name of a probe that not every system has.
const stampsProbe = "the stamps of an answer lie within its request"

// TestCheck checks adapters with one fault each: the probe for it fails, and says why.
func TestCheck(t *testing.T) {
	for _, tt := range []struct{ fault, probe, why string }{
		{"sound", "", ""},
		{"exits", "hello", "exited (exit status 3); it said: out of luck"},
		{"garbage", "hello", `its first line, "ready\n": invalid character`},
		{"no name", "hello", "name is missing"},
		{"another service", "hello", `service "abacus", which there is none of; hint: one of [redis etcd postgres mariadb zookeeper]`},
		{"prints", "it goes on running", `a line of its output, "about to `},
		{"dies", "it goes on running", "exited (exit status 139); it said: segmentation fault"},
		{"dies of refusals", "it goes on running", "exited (exit status 139)"},
		{"other id", "it goes on running", "nobody waits for the answer to request 10"},
		{"answers twice", "it goes on running", "each is answered once"},
		{"one lock", "two keys are two locks", "while the same owner holds another key: acquire of \"two\": lock not acquired"},
		{"grants all", "another owner is refused", "answered ok, want lock not acquired"},
		{"keeps", "a release frees the key", "after the release: acquire of \"frees\": lock not acquired"},
		{"any hold", "a hold that was never given is not held", "answered ok, want lock not held"},
		{"lasts", "a lease ends, and not before its time", "the key was not free"},
		{"half a lease", "a lease ends, and not before its time", "the lease of 300ms was over after"},
		{"extends nothing", "an extend prolongs the lease", "answered ok, want lock not acquired"},
		{"does not wait", "a waiter is granted a lock whose lease ends", "with a wait of 1s: lock not acquired"},
		{"grants waiters", "a waiter is granted a lock whose lease ends", "stays taken: answered ok, want lock not acquired"},
		{"waits in the lease", "a waiter is granted a lock whose lease ends", "extend by a waiter within the lease of 500ms that it was granted: lock not held"},
		{"takes again", "the extend of a lost lock is told", "had since: answered ok, want lock not held"},
		{"silent", "the release of a lost lock is told", "answered ok, want lock not held"},
		{"plain del", "a late release leaves the lock of the next owner", "answered ok, want lock not acquired"},
		{"time left in us", "the time left", "of a lease of 1m0s"},
		{"hashes keys", "odd keys", "acquire of \"buckeroo\": lock not acquired"},
		{"counts all holds", "odd keys", "after its release: acquire of \" \": lock not acquired"},
		{"whole seconds", "odd leases", "a lease of 12.345s: acquire"},
		{"any op", "an unknown operation has no effect", "answered ok, want operation had no effect"},
		{"does not stop", "a stopped process goes on, and ends when told", "did not stop within 2s"},
		{"two commands", "the key of a process killed in acquire becomes free", "killed when command 1 of its acquire, SET, was answered: the key was not free"},
		{"late is lost", "without its server an outcome is unknown", "lock not held: "},
		{"no twin", "its twin grants what is refused", "LOCKBENCH_BREAK=grant: acquire while another process holds the key"},
		{"no twin", "its twin does not release", "LOCKBENCH_BREAK=release"},
		{"no twin", "its twin is silent about losses", "LOCKBENCH_BREAK=silent"},
		{"lying clock", stampsProbe, "not between the times at which the request was sent and the answer read"},
		{"other clock", stampsProbe, "is no time of CLOCK_MONOTONIC between its greeting and its hello"},
		{"no stamps", stampsProbe, "says call_ns 0 and return_ns 0"},
		{"no clock", stampsProbe, ""},
	} {
		t.Run(tt.fault+", "+tt.probe, func(t *testing.T) {
			if testing.Short() && !slices.Contains([]string{"sound", "exits", "answers twice", "lasts", "lying clock"}, tt.fault) {
				t.Skip("starts ten processes")
			}
			_, noClock := adapter.Monotonic()
			if tt.probe == stampsProbe && noClock != nil {
				t.Skip(noClock)
			}
			t.Parallel()
			hello, found, err := adapter.Check(t.Context(), fake(t, tt.fault), on(t))
			if err != nil {
				t.Fatal(err)
			}
			asked := ""
			for _, p := range found {
				switch {
				case p.Name == tt.probe && p.Err != nil:
					asked = p.Err.Error()
				case tt.fault == "dies of refusals" && p.Name == "the key of a killed process becomes free" && p.Skipped == "":
					t.Errorf("%s: asked of a process that has ended: %v", p.Name, p.Err)
				case tt.fault == "no clock" && (p.Skipped != "") != (p.Name == stampsProbe || p.Name == "fences rise"):
					t.Errorf("%s: skipped: %q", p.Name, p.Skipped)
				case tt.fault == "sound" && (p.Err != nil || p.Skipped != "" && p.Name != "fences rise" && (noClock == nil || p.Name != stampsProbe)):
					t.Errorf("%s: %v%s", p.Name, p.Err, p.Skipped)
				}
			}
			if !strings.Contains(asked, tt.why) || tt.why != "" && asked == "" {
				t.Errorf("%s: got %q, want %q in it; all: %v", tt.probe, asked, tt.why, found)
			}
			if tt.fault == "sound" && hello.Name != "fake/sound" {
				t.Errorf("hello %v, want its name", hello)
			}
		})
	}
}
