package locktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/locktest"
)

// forgetful is sound except for one fault: it releases every lease with the token of the last one
// granted.
type forgetful struct {
	sound
	last string
}

func (f *forgetful) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := f.sound.Acquire(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	f.last = lease.(soundLease).token
	return release(func(ctx context.Context) error { return soundLease{&f.sound, key, f.last}.Release(ctx) }), nil
}

// TestOddKeys checks that a lock that cuts the names of keys, and one that uses one token for all
// keys of an owner, are found; a lock that refuses names that it cannot use is not accused of it.
func TestOddKeys(t *testing.T) {
	take := func(name func(string) string) locktest.NewLocker {
		return func(_ *testing.T, env locktest.Env) lockbench.Locker {
			s := &sound{redis: env.Redis, owner: env.Owner, take: repeatably}
			return acquire(func(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
				if key = name(key); key == "" {
					return nil, fmt.Errorf("a name that is not UTF-8")
				}
				return s.Acquire(ctx, key, opt)
			})
		}
	}
	for name, c := range map[string]struct {
		lock locktest.NewLocker
		cell lockbench.Cell
		want checker.Verdict
	}{
		"cut": {take(func(key string) string {
			key, _, _ = strings.Cut(key, "\x00")
			return key
		}), lockbench.NoSpuriousRefusal.At(0), checker.Broken},
		"one token": {func(_ *testing.T, env locktest.Env) lockbench.Locker {
			return &forgetful{sound: sound{redis: env.Redis, owner: env.Owner, take: repeatably}}
		}, lockbench.LossReported.At(0), checker.Broken},
		"turned away": {take(func(key string) string {
			if !utf8.ValidString(key) {
				return ""
			}
			return key
		}), lockbench.NoSpuriousRefusal.At(0), checker.Held},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := locktest.Check(t, c.lock, locktest.WithSchedules(1500))
			if err != nil {
				t.Fatal(err)
			}
			if f := testOf(r, c.cell); f.Verdict != c.want || (r.Err() != nil) != (c.want == checker.Broken) {
				t.Errorf("%s: got %v (%v), want %v", c.cell, f.Verdict, r.Err(), c.want)
			}
		})
	}
}
