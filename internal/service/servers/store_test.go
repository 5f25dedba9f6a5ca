package servers_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// eachServer runs test on a private server, if there is one, and the embedded.
func eachServer(t *testing.T, test func(*testing.T, *servers.Server)) {
	t.Run("private", func(t *testing.T) { test(t, servertest.Start(t)) })
	t.Run("embedded", func(t *testing.T) { test(t, startEmbedded(t)) })
}

func TestStoreKeepsRecords(t *testing.T) {
	eachServer(t, func(t *testing.T, s *servers.Server) {
		store := s.Records("lockbench:1:")
		defer store.Close()
		for key, want := range map[string]lockbench.Record{
			"zero":  {},
			"stock": {Value: 100, Version: 1},
			"low":   {Value: math.MinInt64, Version: math.MaxUint64},
			"a b:c": {Value: math.MaxInt64, Version: 7},
		} {
			if got, err := store.Read(t.Context(), key); err != nil || got != (lockbench.Record{}) {
				t.Errorf("absent %q: %v, %v; want the zero record", key, got, err)
			}
			if err := store.Write(t.Context(), key, want); err != nil {
				t.Fatal(err)
			}
			got, err := store.Read(t.Context(), key)
			if diff := cmp.Diff(got, want); diff != "" || err != nil {
				t.Errorf("%q (-got +want), error %v:\n%s", key, err, diff)
			}
		}
	})
}

func TestStoreTellsWhatHadNoEffect(t *testing.T) {
	s := startEmbedded(t)
	client := redis.NewClient(s.Options())
	defer client.Close()
	store := s.Records("p:")
	defer store.Close()

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Write(cancelled, "k", lockbench.Record{Value: 1}); !errors.Is(err, lockbench.ErrNoEffect) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v, want no effect, cancelled", err)
	}
	if err := client.HSet(t.Context(), "p:store:hash", "f", "v").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Read(t.Context(), "hash"); !errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("read of a hash: %v, want no effect", err)
	}
	if err := client.Set(t.Context(), "p:store:text", "seven", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Read(t.Context(), "text"); err == nil {
		t.Errorf("read of foreign text: %v, want an error", got)
	}
	s.Close()
	if err := store.Write(t.Context(), "k", lockbench.Record{}); err == nil {
		t.Error("a write to a closed server works")
	}
}

func TestStoreWriteIsUnknownWhenTheReplyIsLost(t *testing.T) {
	s, err := servers.Connect(t.Context(), "redis://"+fake(t, dropWrites))
	if err != nil {
		t.Fatal(err)
	}
	store := s.Records("p:")
	defer store.Close()
	if err := store.Write(t.Context(), "k", lockbench.Record{}); err == nil || errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("got %v, want an error that leaves the outcome open", err)
	}
}

func TestStoreWriteHadNoEffectWhenNobodyListens(t *testing.T) {
	s := servertest.Start(t)
	store := s.Records("p:")
	defer store.Close()
	s.Close()
	if err := store.Write(t.Context(), "k", lockbench.Record{}); !errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("got %v, want no effect", err)
	}
}

func BenchmarkStore(b *testing.B) {
	s := servertest.Start(b)
	store := s.Records("p:")
	defer store.Close()
	b.ReportAllocs()
	for i := range b.N {
		if err := store.Write(b.Context(), "k", lockbench.Record{Value: int64(i), Version: 1}); err != nil {
			b.Fatal(err)
		}
		if _, err := store.Read(b.Context(), "k"); err != nil {
			b.Fatal(err)
		}
	}
}
