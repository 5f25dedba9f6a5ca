package servers_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestClean: unused keys of runs are removed, and no other.
func TestClean(t *testing.T) {
	s := servertest.Start(t)
	client := redis.NewClient(s.Options())
	defer client.Close()
	prefix := servers.NewPrefix()
	foreign := []string{"lockbench:mine", "lockbench:0123456:a", "other:" + prefix, "lockbench:0123456X:a"}
	for _, key := range append(slices.Clone(foreign), prefix+"a", prefix+"store:b") {
		if err := client.Set(t.Context(), key, 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		idle    time.Duration
		removed bool
	}{{time.Hour, false}, {0, true}} {
		found, err := backend.Clean(t.Context(), s, c.idle)
		if err != nil || len(found) != 1 || found[0].Prefix != prefix || found[0].Entries != 2 || found[0].Removed != c.removed {
			t.Errorf("idle %v: got %v, %v, want two keys of %s, removed %t", c.idle, found, err, prefix, c.removed)
		}
	}
	if left := client.Exists(t.Context(), foreign...).Val(); left != int64(len(foreign)) {
		t.Errorf("%d of %d foreign keys are left", left, len(foreign))
	}
	if left := client.DBSize(t.Context()).Val(); left != int64(len(foreign)) {
		t.Errorf("%d keys are left, want %d", left, len(foreign))
	}
}

// TestRecordsEnd: a record expires after its last write, whatever wrote it.
func TestRecordsEnd(t *testing.T) {
	eachServer(t, func(t *testing.T, s *servers.Server) {
		client := redis.NewClient(s.Options())
		defer client.Close()
		store := s.Records("run:").(*servers.Store)
		defer store.Close()
		fenced, err := store.Guarded(lockbench.FenceGuard)
		if err != nil {
			t.Fatal(err)
		}
		compared, err := store.Guarded(lockbench.CompareGuard)
		if err != nil {
			t.Fatal(err)
		}
		record, standing := lockbench.Record{Value: 1, Version: 1}, lockbench.Standing{Fence: 1}
		_, changed := store.Change(t.Context(), "changed", 5, 1, 1, 1)
		if err := errors.Join(store.Write(t.Context(), "written", record), changed,
			fenced.(lockbench.GuardedStore).WriteGuarded(t.Context(), "fenced", record, standing),
			compared.(lockbench.GuardedStore).WriteGuarded(t.Context(), "compared", record, standing)); err != nil {
			t.Fatal(err)
		}
		keys := client.Keys(t.Context(), "run:*").Val()
		if len(keys) < 4 {
			t.Fatalf("got keys %q", keys)
		}
		for _, key := range keys {
			if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > 24*time.Hour {
				t.Errorf("%s lives for %v", key, ttl)
			}
		}
	})
}
