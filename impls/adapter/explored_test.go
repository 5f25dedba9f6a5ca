//go:build linux

package adapter

import (
	"context"
	"net"
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
	"github.com/lockbench/lockbench/internal/service/relay"
)

// clockProgram answers an acquire with the time by its clocks, in microseconds, and an extend when 50 ms
// have passed by its clock. A release takes a while of the processor. It has no lock.
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
    if r.get("op") == "release":
        for i in range(300_000):
            pass
    if "op" in r:
        say({"id": r["id"], "ok": {"hold": int(time.monotonic() * 1e6), "ttl_ms": int(time.time() * 1e6)}})
    if "stop" in r:
        break
`

// pingProgram sends one command to its server for each request. A broken connection is an error, after which
// it connects again.
const pingProgram = `
import json, socket, sys
from urllib.parse import urlparse

def say(answer):
    print(json.dumps(answer), flush=True)

servers = json.loads(sys.stdin.readline())["servers"]
say({"hello": 1, "name": "ping"})
at, file = servers and urlparse(servers[0]), None
for line in sys.stdin:
    r = json.loads(line)
    if "stop" in r:
        break
    try:
        file = file or socket.create_connection((at.hostname, at.port)).makefile("rwb")
        file.write(b"*1\r\n$4\r\nPING\r\n")
        file.flush()
        ok = file.readline()
    except OSError:
        ok = b""
    if not ok:
        file = None
        say({"id": r["id"], "error": "unknown", "text": "the connection is broken"})
        continue
    say({"id": r["id"], "ok": {"hold": 1}})
`

// explore runs body in a bubble with a process of an adapter in Python, and ends the process. dial connects to
// the server of the exploration.
func explore(t *testing.T, program string, dial func() net.Conn, body func(*testing.T, func() *bridge)) {
	t.Helper()
	_, noPython := exec.LookPath("python3")
	if _, err := faketime.Find(); (err != nil || noPython != nil) && os.Getenv("LOCKBENCH_REQUIRE_SERVERS") != "1" {
		t.Skip("no python3 or no libfaketime")
	}
	file := filepath.Join(t.TempDir(), "program.py")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
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
		dialer := func(context.Context, string, string) (net.Conn, error) { return dial(), nil }
		env := design.Environment{Now: time.Now, Services: []any{onredis.Server{Options: &redis.Options{Dialer: dialer}}}}
		var last *bridge
		body(t, func() *bridge {
			opened, err := d.Open(env)
			if err != nil {
				t.Fatal(err)
			}
			last = opened.(*bridge)
			return last
		})
		if err := last.End(); err != nil {
			t.Error(err)
		}
	})
}

// TestClock checks that a program of an exploration reads the time of the bubble, and that time passes when it
// sleeps, and not when it works.
func TestClock(t *testing.T) {
	explore(t, clockProgram, nil, func(t *testing.T, open func() *bridge) {
		b := open()
		before := int64(0)
		for _, passes := range []time.Duration{0, 0, time.Hour, time.Millisecond} {
			time.Sleep(passes)
			began := time.Now()
			got, err := b.call(t.Context(), request{Op: opAcquire, Key: "a", TTLMS: 1000})
			if err != nil {
				t.Error(err)
				return
			}
			for clock, us := range map[string]int64{"time": got.TTLMS, "monotonic": got.Hold} {
				if ahead := time.UnixMicro(us).Sub(began); ahead < -time.Microsecond || ahead >= time.Millisecond {
					t.Errorf("after %v: its %s is %v ahead of the bubble, want less than a millisecond", passes, clock, ahead)
				}
			}
			if got.TTLMS <= before {
				t.Errorf("its clock shows %d, and %d at its last step; want a later time", got.TTLMS, before)
			}
			before = got.TTLMS
			if passed := time.Since(began); passed != 0 {
				t.Errorf("%v passed while the program ran, want none", passed)
			}
		}
		for op, atLeast := range map[op]time.Duration{opRelease: 0, opExtend: 50 * time.Millisecond} {
			began := time.Now()
			if _, err := b.call(t.Context(), request{Op: op, Hold: 1}); err != nil {
				t.Error(err)
			}
			if passed := time.Since(began); passed < atLeast || passed > 10*atLeast {
				t.Errorf("%v passed during %s, want %v or little more", passed, op, atLeast)
			}
		}
	})
}

// TestHeal checks that a program serves the next schedule after its connection was broken, at rest and within a
// request.
func TestHeal(t *testing.T) {
	var server net.Conn // the last one
	answers := true
	dial := func() net.Conn {
		var client net.Conn
		client, server = net.Pipe()
		go func(server net.Conn) {
			for m := relay.NewMessages(server); ; {
				if _, err := m.Next(); err != nil || !answers {
					_ = server.Close()
					return
				}
				_, _ = server.Write([]byte("+PONG\r\n"))
			}
		}(server)
		return client
	}
	explore(t, pingProgram, dial, func(t *testing.T, open func() *bridge) {
		b := open()
		program := b.program
		ping := func(want bool) {
			t.Helper()
			if _, err := b.call(t.Context(), request{Op: opAcquire, Key: "a", TTLMS: 1000}); (err == nil) != want {
				t.Errorf("got %v, want no error: %v", err, want)
			}
		}
		next := func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if b = open(); b.program != program {
				t.Error("the program was started again, want the same")
			}
		}
		ping(true)
		next()
		ping(true)
		_ = server.Close()
		next()
		ping(true)
		answers = false
		ping(false)
		answers = true
		next()
		ping(true)
		_ = server.Close()
	})
}

// listenProgram subscribes to messages and publishes some, which nobody reads, before it says hello.
const listenProgram = `
import json, socket, sys
from urllib.parse import urlparse

def send(file, *words):
    file.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    file.flush()

servers = json.loads(sys.stdin.readline())["servers"]
if servers:
    at = urlparse(servers[0])
    one, other = (socket.create_connection((at.hostname, at.port)).makefile("rwb") for i in range(2))
    send(one, b"SUBSCRIBE", b"channel")
    one.read(len(b"*3\r\n$9\r\nsubscribe\r\n$7\r\nchannel\r\n:1\r\n"))
    for i in range(20):
        send(other, b"PUBLISH", b"channel", b"message")
        assert other.readline() == b":1\r\n"
print(json.dumps({"hello": 1, "name": "listens"}), flush=True)
for line in sys.stdin:
    if "stop" in json.loads(line):
        break
`

// TestListen checks that a program that subscribes to messages is started and ended.
func TestListen(t *testing.T) {
	explore(t, listenProgram, nil, func(_ *testing.T, open func() *bridge) { open() })
}
