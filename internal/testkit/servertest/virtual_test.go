package servertest_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestVirtual checks that commands take virtual time, that leases end by it, and that
// the seed decides the order.
func TestVirtual(t *testing.T) {
	order := func(t *testing.T, seed uint64) (order []string) {
		synctest.Test(t, func(t *testing.T) {
			opt := servertest.Virtual(t, seed)
			begun := time.Now()
			for n := range 4 {
				go func() {
					client := redis.NewClient(opt)
					defer client.Close()
					name := fmt.Sprint(n)
					if err := client.RPush(t.Context(), "order", name).Err(); err != nil {
						t.Error(err)
					}
					order = append(order, name)
				}()
			}
			time.Sleep(time.Second)
			client := redis.NewClient(opt)
			defer client.Close()
			pushed, err := client.LRange(t.Context(), "order", 0, -1).Result()
			if diff := cmp.Diff(pushed, order); err != nil || diff != "" {
				t.Errorf("error %v; order of execution (-pushed +answered):\n%s", err, diff)
			}
			if err := client.Set(t.Context(), "lease", "x", time.Hour).Err(); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
			if err := client.Get(t.Context(), "lease").Err(); !errors.Is(err, redis.Nil) {
				t.Errorf("got %v of a lease that is over, want %v", err, redis.Nil)
			}
			if took := time.Since(begun); took <= time.Hour+time.Second || took > time.Hour+2*time.Second {
				t.Errorf("it took %v of virtual time, want an hour, a second and what some commands take", took)
			}
		})
		return order
	}
	first := order(t, 1)
	if diff := cmp.Diff(order(t, 1), first); diff != "" {
		t.Errorf("the same seed (-got +before):\n%s", diff)
	}
	for seed := range uint64(20) {
		if !cmp.Equal(order(t, seed), first) {
			return
		}
	}
	t.Errorf("20 seeds gave the same order, %q", first)
}
