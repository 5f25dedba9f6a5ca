package locktest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// named is an owner of a lock that keeps its owner's name in the key.
type named struct {
	*service
	name  string
	names *sync.Map                     // the name in each key
	same  func(found, name string) bool // whether a release finds its owner's name
}

// Acquire implements lockbench.Locker.
func (n named) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	if _, err := n.wait(ctx, key, opt); err != nil {
		return nil, err
	}
	n.names.Store(key, n.name)
	return release(func(context.Context) error {
		n.mu.Lock()
		defer n.mu.Unlock()
		found, _ := n.names.Load(key)
		if held := n.held[key]; held == nil || !time.Now().Before(held.until) || !n.same(found.(string), n.name) {
			return lockbench.ErrNotHeld
		}
		delete(n.held, key)
		return nil
	}), nil
}

// TestNumbersOfOwners checks that a lock that compares names of owners by prefix in its release is
// caught, if the names end in a decimal number, wherever the caller begins to count. A lock that
// compares whole names must pass.
func TestNumbersOfOwners(t *testing.T) {
	for _, first := range []int{0, 1, 2, 3} {
		for name, c := range map[string]struct {
			same   func(found, name string) bool
			broken bool
		}{
			"prefix": {strings.HasPrefix, true},
			"whole":  {func(found, name string) bool { return found == name }, false},
		} {
			t.Run(fmt.Sprintf("%s/from %d", name, first), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s, names, next := newService(faults{}), &sync.Map{}, first
					trial := triedWhole(t, func() (lockbench.Locker, error) {
						next++
						return named{s, fmt.Sprintf("owner-%d", next-1), names, c.same}, nil
					}, locktest.WithCase("late-release"))
					if err := testOf(trial, lockbench.OwnerRelease.At(lockbench.Outlived)).Err; (err != nil) != c.broken {
						t.Errorf("got error %v, want broken: %v", err, c.broken)
					}
				})
			})
		}
	}
}
