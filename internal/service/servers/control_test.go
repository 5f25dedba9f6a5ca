package servers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// clientOf returns a client of s.
func clientOf(t *testing.T, s *servers.Server) *redis.Client {
	t.Helper()
	client := redis.NewClient(s.Options())
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// left returns the value of key, empty for none.
func left(t *testing.T, s *servers.Server, key string) string {
	t.Helper()
	value, err := clientOf(t, s).Get(t.Context(), key).Result()
	if err != nil && err != redis.Nil {
		t.Fatal(err)
	}
	return value
}

func set(t *testing.T, s *servers.Server, key string) {
	t.Helper()
	if err := clientOf(t, s).Set(t.Context(), key, "there", 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestRestart(t *testing.T) {
	for _, c := range []struct {
		name string
		log  bool
		want string
	}{
		{"empty", false, ""},
		{"from its log", true, "there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := servertest.Start(t)
			set(t, s, "before")
			if c.log {
				if err := s.KeepLog(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			set(t, s, "after")
			gone := false
			err := s.Restart(t.Context(), func() { gone = clientOf(t, s).Ping(t.Context()).Err() != nil })
			if err != nil {
				t.Fatal(err)
			}
			if !gone {
				t.Error("something answered between the old process and the new one")
			}
			if got := left(t, s, "before") + left(t, s, "after"); got != c.want+c.want {
				t.Errorf("keys hold %q, want %q each", got, c.want)
			}
			if err := s.Err(); err != nil {
				t.Errorf("the server counts as lost: %v", err)
			}
		})
	}
}

func TestSuspend(t *testing.T) {
	s := servertest.Start(t)
	hasty := s.Options()
	hasty.ReadTimeout, hasty.DialTimeout = 50*time.Millisecond, 50*time.Millisecond
	for _, c := range []struct {
		name    string
		do      func() error
		by      *redis.Options
		answers bool
	}{
		{"suspended", s.Suspend, hasty, false},
		{"resumed", s.Resume, s.Options(), true},
		{"suspended again, for the end of the test", s.Suspend, hasty, false},
	} {
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		client := redis.NewClient(c.by)
		err := client.Ping(t.Context()).Err()
		_ = client.Close()
		if answers := err == nil; answers != c.answers {
			t.Errorf("%s: ping says %v", c.name, err)
		}
	}
}

func TestKilledUntilRestarted(t *testing.T) {
	s := servertest.Start(t)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := clientOf(t, s).Ping(t.Context()).Err(); err == nil || s.Err() != nil {
		t.Errorf("ping of a killed server says %v; it counts as lost: %v", err, s.Err())
	}
	if err := s.Restart(t.Context(), func() {}); err != nil {
		t.Fatal(err)
	}
	set(t, s, "key")
}

func TestFailover(t *testing.T) {
	temp := tempHome(t)
	s := servertest.Start(t)
	set(t, s, "before")
	via, err := s.ListenTCP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.StartReplica(t.Context(), via)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Failover(t.Context(), func() {}); err != nil {
		t.Fatal(err)
	}
	if got := left(t, s, "before"); got != "there" {
		t.Errorf("after the failover the key holds %q, want what was replicated", got)
	}
	set(t, s, "after") // a replica would refuse
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if found := entries(t, temp); len(found) > 0 {
		t.Errorf("left behind: %q", found)
	}
}

func TestOnlyPrivateServersAreControlled(t *testing.T) {
	embedded, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	external, err := servers.Connect(t.Context(), servertest.Start(t).Address())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*servers.Server{embedded, external} {
		for name, do := range map[string]func() error{
			"suspend": s.Suspend, "resume": s.Resume, "kill": s.Kill,
			"restart":   func() error { return s.Restart(t.Context(), func() { t.Error("restart went on") }) },
			"keep log":  func() error { return s.KeepLog(t.Context()) },
			"own clock": func() error { return s.OwnClock(t.Context()) },
			"set clock": func() error { return s.SetClock(t.Context(), 0) },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), "hint: use a private server") {
				t.Errorf("%s of an %s server: %v; want it refused", name, s.Kind(), err)
			}
		}
	}
}
