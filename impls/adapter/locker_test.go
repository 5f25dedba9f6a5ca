//go:build unix

package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/adapter"
	"github.com/lockbench/lockbench/impls/design"
)

// open starts a process of a fake, and returns an owner in it.
func open(t *testing.T, fault string) lockbench.Locker {
	t.Helper()
	d, err := adapter.Design(t.Context(), fake(t, fault))
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Open(environment(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.Locker(design.Blind)
}

func acquire(t *testing.T, l lockbench.Locker, key string) lockbench.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), key, lockbench.Options{TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// TestLeaseless checks that only a lock with leases reports their validity.
func TestLeaseless(t *testing.T) {
	for fault, want := range map[string]bool{"sound": true, "leaseless": false} {
		if _, has := lockbench.Ability[lockbench.Validator](acquire(t, open(t, fault), "key")); has != want {
			t.Errorf("fake %q: it reports a validity: %v, want %v", fault, has, want)
		}
	}
}

// TestAbilities: a lease has the abilities of which the hello speaks, and they work.
func TestAbilities(t *testing.T) {
	l := open(t, "able")
	lease := acquire(t, l, "key")
	fencer, fences := lockbench.Ability[lockbench.Fencer](lease)
	watcher, watches := lockbench.Ability[lockbench.Watcher](lease)
	left, reads := lockbench.Ability[lockbench.TTLer](lease)
	extender, extends := lockbench.Ability[lockbench.Extender](lease)
	later, delays := lockbench.Ability[lockbench.DelayedReleaser](lease)
	if !fences || !watches || !reads || !extends || !delays {
		t.Fatalf("fences %v, watches %v, reads %v, extends %v, delays %v; want all", fences, watches, reads, extends, delays)
	}
	if fencer.Fence() != 1 {
		t.Errorf("fence %d, want 1", fencer.Fence())
	}
	if got, err := left.TTL(t.Context()); err != nil || got <= 0 || got > time.Minute {
		t.Errorf("time left %v, error %v", got, err)
	}
	<-watcher.Lost() // the fake reports it with the time left
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := extender.Extend(ctx, time.Minute); !errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("a cancelled extend: %v, want the answer of the adapter", err)
	}
	if err := later.ReleaseAfter(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	if _, err := l.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Minute}); !errors.Is(err, lockbench.ErrNotAcquired) {
		t.Errorf("acquire in the delay: %v", err)
	}

	lease = acquire(t, open(t, "sound"), "key")
	if _, fences := lockbench.Ability[lockbench.Fencer](lease); fences {
		t.Error("a lease without a fence has the ability")
	}
	if _, watches := lockbench.Ability[lockbench.Watcher](lease); watches {
		t.Error("a lease that is not watched has the ability")
	}
	if _, reads := lockbench.Ability[lockbench.TTLer](lease); !reads {
		t.Error("the ability to read the time left is missing")
	}
}

// TestLossAtOnce checks that a loss is told that the adapter reports right behind its grant.
func TestLossAtOnce(t *testing.T) {
	l := open(t, "loses at once")
	for n := range 20 {
		watcher, _ := lockbench.Ability[lockbench.Watcher](acquire(t, l, fmt.Sprintf("key-%d", n)))
		<-watcher.Lost()
	}
}

// TestWaiting: the library of an adapter waits if its hello says so, and an owner that waits has an error when
// its process is killed.
func TestWaiting(t *testing.T) {
	d, err := adapter.Design(t.Context(), fake(t, "no wait"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := adapter.With(d, adapter.Settings{Waits: true}); err == nil || !strings.Contains(err.Error(), "does not say wait, so its library cannot wait; hint: --waits driver") {
		t.Errorf("an adapter without the ability: error %v", err)
	}
	if d, err = adapter.Design(t.Context(), fake(t, "sound")); err == nil {
		d, err = adapter.With(d, adapter.Settings{Waits: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	env := environment(t)
	env.Commands = new(atomic.Int64)
	var processes [2]design.Process
	for i := range processes {
		if processes[i], err = d.Open(env); err != nil {
			t.Fatal(err)
		}
		defer processes[i].Close()
	}
	acquire(t, processes[0].Locker(design.Blind), "key")
	waited := make(chan error, 1)
	go func() {
		_, err := processes[1].Locker(design.Blind).Acquire(t.Context(), "key", lockbench.Options{TTL: time.Minute, Wait: time.Hour})
		waited <- err
	}()
	for env.Commands.Load() < 4 { // the first owner's, and some tries of the second
		time.Sleep(time.Millisecond)
	}
	if err := processes[1].(design.Program).Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err == nil || errors.Is(err, lockbench.ErrNotAcquired) || errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("a waiter whose process was killed: error %v, want an unknown outcome", err)
	}
}

// TestErrors: the answers of an adapter are the errors of a lock, and a context that ends without a
// cancel leaves the outcome unknown.
func TestErrors(t *testing.T) {
	l := open(t, "sound")
	lease := acquire(t, l, "key")
	if _, err := l.Acquire(t.Context(), "key", lockbench.Options{TTL: time.Minute, Wait: 30 * time.Millisecond}); !errors.Is(err, lockbench.ErrNotAcquired) {
		t.Errorf("acquire of a held key: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, lockbench.ErrNotHeld) {
		t.Errorf("second release: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Acquire(ended, "key", lockbench.Options{TTL: time.Minute}); !errors.Is(err, context.Canceled) || !errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("acquire with a context that has ended: %v", err)
	}
	if got := acquire(t, l, "key"); got == nil {
		t.Error("no lease")
	}
}
