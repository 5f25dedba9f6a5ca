package servers_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/service/servers"
)

func startEmbedded(t *testing.T) *servers.Server {
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
	return s
}

func TestEmbeddedLeasesEndByTheRealClock(t *testing.T) {
	s := startEmbedded(t)
	client := redis.NewClient(s.Options())
	defer client.Close()
	grab := func() bool {
		ok, err := client.SetNX(t.Context(), "lock", "me", 30*time.Millisecond).Result()
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !grab() {
		t.Fatal("refused a free lock")
	}
	for end := time.Now().Add(patience); !grab(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the lease never ends")
		}
	}
}

func TestEmbeddedServerLeavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s := startEmbedded(t)
	client := redis.NewClient(s.Options())
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("the server answers after Close")
	}
	client.Close()
	goleak.VerifyNone(t, before)
}
