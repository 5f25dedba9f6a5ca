package load

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/workloads"
)

// befalling lists incidents of a server of the user's, which lockbench did not start.
var befalling = []struct {
	name, told string
	do         func(ctx context.Context, s *servers.Server, admin *redis.Client) error
}{
	{"restart", "it was started anew", func(ctx context.Context, s *servers.Server, _ *redis.Client) error {
		return s.Restart(ctx, func() {})
	}},
	{"flush", "it lost keys", func(ctx context.Context, _ *servers.Server, admin *redis.Client) error {
		return admin.FlushAll(ctx).Err()
	}},
	{"eviction", "it evicted", func(ctx context.Context, _ *servers.Server, admin *redis.Client) error {
		return errors.Join(admin.ConfigSet(ctx, "maxmemory-policy", "allkeys-random").Err(), admin.ConfigSet(ctx, "maxmemory", "1").Err(),
			admin.ConfigSet(ctx, "maxmemory", "0").Err())
	}},
	{"deletion of one key after the other", "it lost keys", func(ctx context.Context, _ *servers.Server, admin *redis.Client) error {
		keys, err := admin.Keys(ctx, "*").Result()
		for _, key := range keys {
			err = errors.Join(err, admin.Del(ctx, key).Err())
		}
		return err
	}},
	{"clients thrown out", "", func(ctx context.Context, _ *servers.Server, admin *redis.Client) error {
		return admin.ClientKillByFilter(ctx, "TYPE", "normal", "SKIPME", "yes").Err()
	}},
	{"nothing", "", func(context.Context, *servers.Server, *redis.Client) error { return nil }},
}

// TestServersOfOthers: incidents of the user's server are reported, and a sound lock is not accused
// of them.
func TestServersOfOthers(t *testing.T) {
	for _, c := range befalling {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range longtest.Times(1, 20) {
				own := servertest.Start(t)
				s, err := servers.Connect(t.Context(), own.Address())
				if err != nil {
					t.Fatal(err)
				}
				admin := redis.NewClient(own.Options())
				o := options(longHolds)
				o.Duration = time.Minute // more than it takes
				var record bytes.Buffer
				over, progress := make(chan struct{}), &Progress{}
				failed := make(chan error, 1)
				go func() {
					defer close(over)
					failed <- errors.Join(awaitMore(&progress.Grants), c.do(t.Context(), own, admin), awaitMore(&progress.Grants))
				}()
				sum, err := Run(t.Context(), Config{
					Design: catalogued(t, "lua-token/strategy"), Services: backend.Group{s}, Workload: workloads.Must("mutex"), Options: o,
					History: &record, Broken: over, Progress: progress,
				})
				if err := errors.Join(err, <-failed, admin.Close()); err != nil {
					t.Fatal(err)
				}
				_, result, _ := judge(t, record.Bytes())
				for _, f := range result.Findings {
					if f.Against > 0 {
						t.Errorf("%s: %v %d times against what is claimed (%v)", f.Cell, f.Verdict, f.Against, f.Counterexample)
					}
				}
				notes := strings.Join(sum.Notes, "\n")
				if told := strings.Contains(notes, "by no doing of lockbench"); told != (c.told != "") || !strings.Contains(notes, c.told) {
					t.Errorf("notes %q; want %q in them", notes, c.told)
				}
				if f := result.Find(lockbench.Exclusion.At(0)); f.Verdict != checker.Held {
					t.Errorf("exclusion: %v, want held", f.Verdict)
				}
			}
		})
	}
}

// awaitMore returns when n has grown by some.
func awaitMore(n *atomic.Int64) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for begun := n.Load(); n.Load() < begun+10; {
		<-tick.C
	}
	return nil
}
