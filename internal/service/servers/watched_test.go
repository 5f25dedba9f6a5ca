package servers_test

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestWatchFindsDeletedKeys: a look misses each of its keys that was deleted, once, and writes it
// anew.
func TestWatchFindsDeletedKeys(t *testing.T) {
	s := servertest.Start(t)
	prefix := servers.NewPrefix()
	look, closing := s.Watch(prefix)
	defer closing()
	kept := func() bool {
		t.Helper()
		g, err := look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return g.Kept
	}
	for range 2 {
		if !kept() {
			t.Error("keys are missing that nobody deleted")
		}
	}
	missedOnce := func() bool {
		t.Helper()
		first, second := kept(), kept()
		return !first && second
	}
	client := singleOf(t, s)
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	if err != nil || len(keys) != 128 {
		t.Fatalf("%d keys, %v; want 128", len(keys), err)
	}
	slices.Sort(keys)
	for _, key := range []string{keys[0], keys[77], keys[127]} {
		if err := client.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
		if !missedOnce() {
			t.Errorf("key %s was deleted: want one look that misses it", key)
		}
	}
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if !missedOnce() {
		t.Error("all keys were deleted: want one look that misses them")
	}
	if left, err := client.DBSize(t.Context()).Result(); err != nil || left != 128 {
		t.Errorf("%d keys, %v; want 128 again", left, err)
	}
}
