package redsync_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/redsync"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// five starts five servers and a process of redsync/quorum on them.
func five(t *testing.T) (backend.Group, design.Process) {
	t.Helper()
	var g backend.Group
	for range 5 {
		g = append(g, servertest.Start(t))
	}
	p, err := redsync.Designs()[1].Open(design.Environment{
		Services: g.Reach(), Prefix: "quorum:", Now: time.Now, Random: rand.Reader,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return g, p
}

// lose ends n of the servers.
func lose(t *testing.T, g backend.Group, n int) {
	t.Helper()
	for _, s := range g[len(g)-n:] {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQuorumSurvivesTheLossOfTwo(t *testing.T) {
	g, p := five(t)
	a, b := p.Locker(design.Blind), p.Locker(design.Blind)
	opt := lockbench.Options{TTL: time.Minute}
	held, err := a.Acquire(t.Context(), designtest.Key, opt)
	if err != nil {
		t.Fatal(err)
	}
	lose(t, g, 2)
	if _, err := b.Acquire(t.Context(), designtest.Key, opt); !errors.Is(err, lockbench.ErrNotAcquired) {
		t.Errorf("another got %v, want to be refused", err)
	}
	extender, _ := lockbench.Ability[lockbench.Extender](held)
	if err := extender.Extend(t.Context(), time.Minute); err != nil {
		t.Errorf("extend: %v", err)
	}
	if err := held.Release(t.Context()); err != nil {
		t.Errorf("release: %v", err)
	}
	if held, err = b.Acquire(t.Context(), designtest.Key, opt); err != nil {
		t.Fatalf("acquire of a free key: %v", err)
	}
	lose(t, g[:3], 1)
	if err := held.Release(t.Context()); err == nil || errors.Is(err, lockbench.ErrNotHeld) {
		t.Errorf("release with two left: %v, want an error that leaves it open", err)
	}
}

func TestQuorumRefusesAtTheLossOfThree(t *testing.T) {
	g, p := five(t)
	lose(t, g, 3)
	held, err := p.Locker(design.Blind).Acquire(t.Context(), designtest.Key, lockbench.Options{TTL: time.Minute})
	if err == nil || held != nil || errors.Is(err, lockbench.ErrNotAcquired) {
		t.Errorf("got lease %v, error %v, want an error that names no other owner", held, err)
	}
	for _, s := range g[:2] {
		client := redis.NewClient(s.(*servers.Server).Options())
		defer client.Close()
		if n := client.DBSize(t.Context()).Val(); n != 0 {
			t.Errorf("%d keys are left on a server", n)
		}
	}
}

func TestQuorumNeedsItsServers(t *testing.T) {
	env := designtest.Embedded(t)
	if _, err := redsync.Designs()[1].Open(env.General()); err == nil {
		t.Error("opened on one server")
	}
}
