package servers_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// patience bounds events that must happen soon, even on a slow machine.
const patience = 20 * time.Second

// tempHome gives the test its own folder for temporary files, so that it sees
// only the homes of its servers.
func tempHome(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lb") // t.TempDir makes paths too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPrivateServerAnswersAndIsGoneAfterClose(t *testing.T) {
	temp := tempHome(t)
	s := servertest.Start(t)
	client := redis.NewClient(s.Options())
	defer client.Close()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatalf("ping: %v", err)
	}
	if s.Kind() != design.Private || !strings.Contains(s.Version(), " ") {
		t.Errorf("%s, %s, want a private server with product and version", s.Kind(), s.Version())
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	all.Wait()
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("the server answers after Close")
	}
	if left := entries(t, temp); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	select {
	case <-s.Done():
		t.Errorf("Done is closed by Close: %v", s.Err())
	default:
	}
}

func TestPrivateServerKeepsNothingAndEvictsNothing(t *testing.T) {
	s := servertest.Start(t)
	client := redis.NewClient(s.Options())
	defer client.Close()
	for setting, want := range map[string]string{
		"save": "", "appendonly": "no", "maxmemory-policy": "noeviction", "port": "0",
	} {
		got, err := client.ConfigGet(t.Context(), setting).Result()
		if err != nil || got[setting] != want {
			t.Errorf("%s = %q, error %v; want %q", setting, got[setting], err, want)
		}
	}
	home, err := os.Stat(filepath.Dir(s.Options().Addr))
	if err != nil || home.Mode().Perm() != 0o700 {
		t.Errorf("home %v, error %v; want mode 0700", home, err)
	}
}

func TestDoneTellsThatTheServerDied(t *testing.T) {
	s := servertest.Start(t)
	client := redis.NewClient(s.Options())
	defer client.Close()
	if err := s.Err(); err != nil {
		t.Errorf("Err() = %v while it lives", err)
	}
	client.ShutdownNoSave(t.Context())
	select {
	case <-s.Done():
	case <-time.After(patience):
		t.Fatal("Done stays open")
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("Err() = %v, want how it ended", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close after its death: %v", err)
	}
	if _, err := s.Sweep(t.Context(), "lockbench:x:"); !errors.Is(err, s.Err()) {
		t.Errorf("Sweep after its death: %v, want it to tell of that", err)
	}
}

func TestStartPrivateExplainsWhatWentWrong(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"no program", "", "in PATH; hint: "},
		{"dies", "#!/bin/sh\necho it hurts >&2\nexit 3\n", "exit status 3; it said: it hurts"},
		{"does not start", "#!/no/such/interpreter\n", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, temp := t.TempDir(), tempHome(t)
			t.Setenv("PATH", path)
			if c.script != "" {
				if err := os.WriteFile(filepath.Join(path, "redis-server"), []byte(c.script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			_, err := servers.StartPrivate(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if got, want := errors.Is(err, servers.ErrNoProgram), c.script == ""; got != want {
				t.Errorf("ErrNoProgram %t, want %t: %v", got, want, err)
			}
			if left := entries(t, temp); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestStartPrivateGivesUpOnAServerThatDoesNotAnswer(t *testing.T) {
	path, temp := t.TempDir(), tempHome(t)
	script := "#!/bin/sh\nexec /bin/sleep 600\n"
	if err := os.WriteFile(filepath.Join(path, "redis-server"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := servers.StartPrivate(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want it to wrap the context's error", err)
	}
	if left := entries(t, temp); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestNoChildSurvivesAKill kills processes that run a private server, and lets
// the next start clear up behind them, but not behind one that lives.
func TestNoChildSurvivesAKill(t *testing.T) {
	temp := tempHome(t)
	living := servertest.Start(t)
	for range longtest.Times(2, 5) {
		socket := startAndKill(t)
		awaitSilence(t, socket)
	}
	if got := len(entries(t, temp)); got < 2 {
		t.Fatalf("%d homes before the next start, want leftovers to clear", got)
	}
	next := servertest.Start(t)
	if got := entries(t, temp); len(got) != 2 {
		t.Errorf("homes after the next start: %q, want those of the two that live", got)
	}
	for _, s := range []*servers.Server{living, next} {
		client := redis.NewClient(s.Options())
		if err := client.Ping(t.Context()).Err(); err != nil {
			t.Errorf("a living server was cleared away: %v", err)
		}
		client.Close()
	}
}

// startAndKill runs this test binary as a process that starts a private server,
// kills it once the server answers, and returns the server's socket.
func startAndKill(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if kill := cmd.Process.Kill(); kill != nil {
		t.Error(kill)
	}
	_ = cmd.Wait() // it was killed
	if err != nil {
		t.Fatalf("helper: %v", err)
	}
	socket, ok := strings.CutPrefix(strings.TrimSpace(line), "unix://")
	if !ok {
		t.Skipf("the helper has no server on a socket: %s", line)
	}
	return socket
}
