//go:build linux

package adapter

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/lib/faketime"
)

// clockProgram answers an acquire with the time by its clocks, in microseconds, and an extend when 50 ms
// have passed by its clock. It has no lock.
const clockProgram = `
import json, sys, time

def say(answer):
    print(json.dumps(answer), flush=True)

sys.stdin.readline()
say({"hello": 1, "name": "clock", "can": ["extend"]})
for line in sys.stdin:
    r = json.loads(line)
    if r.get("op") == "extend":
        until = time.time() + 0.05
        while time.time() < until:
            time.sleep(0.001)
    if "op" in r:
        say({"id": r["id"], "ok": {"hold": int(time.monotonic() * 1e6), "ttl_ms": int(time.time() * 1e6)}})
    if "stop" in r:
        break
`

// TestClock checks that a program of an exploration reads the time of the bubble, and that time passes when it
// sleeps, and not when it does not.
func TestClock(t *testing.T) {
	_, noPython := exec.LookPath("python3")
	if _, err := faketime.Find(); (err != nil || noPython != nil) && os.Getenv("LOCKBENCH_REQUIRE_SERVERS") != "1" {
		t.Skip("no python3 or no libfaketime")
	}
	file := filepath.Join(t.TempDir(), "clock.py")
	if err := os.WriteFile(file, []byte(clockProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Design(t.Context(), "exec python3 -B "+file)
	if err == nil {
		d, err = Defined(d.Name, d.Definition)
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		env := design.Environment{Now: time.Now, Services: []any{onredis.Server{Options: &redis.Options{}}}}
		opened, err := d.Open(env)
		if err != nil {
			t.Fatal(err)
		}
		b := opened.(*bridge)
		defer func() {
			if err := b.End(); err != nil {
				t.Error(err)
			}
		}()
		for _, passes := range []time.Duration{0, time.Hour, time.Millisecond} {
			time.Sleep(passes)
			began := time.Now()
			got, err := b.call(t.Context(), request{Op: opAcquire, Key: "a", TTLMS: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for clock, us := range map[string]int64{"time": got.TTLMS, "monotonic": got.Hold} {
				if ahead := time.UnixMicro(us).Sub(began); ahead < -time.Microsecond || ahead >= time.Millisecond {
					t.Errorf("after %v: its %s is %v ahead of the bubble, want less than a millisecond", passes, clock, ahead)
				}
			}
			if passed := time.Since(began); passed != 0 {
				t.Errorf("%v passed while the program ran, want none", passed)
			}
		}
		began := time.Now()
		if _, err := b.call(context.Background(), request{Op: opExtend, Hold: 1}); err != nil {
			t.Fatal(err)
		}
		if passed := time.Since(began); passed < 50*time.Millisecond || passed > time.Second {
			t.Errorf("%v passed while the program slept for 50ms, want little more", passed)
		}
	})
}
