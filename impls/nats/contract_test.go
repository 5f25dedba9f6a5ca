package nats_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	family "github.com/lockbench/lockbench/impls/nats"
	"github.com/lockbench/lockbench/internal/service/nats"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"github.com/lockbench/lockbench/internal/testkit/runtest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a process of a design, whose requests meet i.
func open(t *testing.T, d design.Design, on *nats.Server, i design.Interceptor) design.Process {
	t.Helper()
	p, err := d.Open(design.Environment{Services: []any{on.Reach()}, Prefix: d.Name + ":", Interceptor: i})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

type scene = designtest.Stage[*nats.Server]

// each runs test with each design, on one server.
func each(t *testing.T, test func(*testing.T, *scene)) {
	server := servicetest.Start(t, nats.Start)
	for _, d := range family.Designs() {
		t.Run(d.Name, func(t *testing.T) { test(t, designtest.OpenStage(t, d, server, d.Name)) })
	}
}

func compares(d design.Design) bool { return d.Name == "nats/kv" }

func TestOneOwnerAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		a := s.Owner(0)
		held, err := designtest.Acquire(t, a)
		if err != nil {
			t.Fatal(err)
		}
		if _, granted := held.(lockbench.Validator).Valid(); granted != time.Minute {
			t.Errorf("a lease of %v", granted)
		}
		if err := held.(lockbench.Extender).Extend(t.Context(), time.Hour); err != nil {
			t.Error(err)
		}
		for _, l := range []lockbench.Locker{a, s.Owner(0), s.Owner(1)} {
			if _, err := designtest.Acquire(t, l); !errors.Is(err, lockbench.ErrNotAcquired) {
				t.Errorf("a second acquire: %v, want that it is refused", err)
			}
		}
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := held.(lockbench.Extender).Extend(t.Context(), time.Hour); !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("extended after the release: %v", err)
		}
		if err := held.Release(t.Context()); compares(s.Design) && !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("released twice: %v", err)
		}
		again, err := designtest.Acquire(t, s.Owner(1))
		if err != nil {
			t.Fatalf("after the release: %v", err)
		}
		if after, before := again.(lockbench.Fencer).Fence(), held.(lockbench.Fencer).Fence(); after <= before {
			t.Errorf("fence %d after %d", after, before)
		}
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestProcessEnds checks that the end of a process frees nothing.
func TestProcessEnds(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		held, err := designtest.Acquire(t, s.Owner(0))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Processes[0].Close(); err != nil {
			t.Fatal(err)
		}
		if _, err = designtest.Acquire(t, s.Owner(1)); !errors.Is(err, lockbench.ErrNotAcquired) {
			t.Errorf("after the end: %v", err)
		}
		if err := held.Release(t.Context()); !errors.Is(err, lockbench.ErrNoEffect) {
			t.Errorf("released after the end: %v", err)
		}
	})
}

// TestGivenUp checks that an acquire has an unknown outcome if its answer is lost, and that it ends with its
// lease.
func TestGivenUp(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		deafened := open(t, s.Design, s.Service, deaf{}).Locker(design.Blind)
		for key, ttl := range map[string]time.Duration{"kept": time.Hour, "freed": time.Second} {
			if _, err := deafened.Acquire(t.Context(), key, lockbench.Options{TTL: ttl}); !errors.Is(err, context.Canceled) || errors.Is(err, lockbench.ErrNoEffect) {
				t.Errorf("%s: %v, want that it was given up", key, err)
			}
		}
		if _, err := s.Owner(1).Acquire(t.Context(), "kept", lockbench.Options{}); !errors.Is(err, lockbench.ErrNotAcquired) {
			t.Errorf("before its lease has ended: %v", err)
		}
		if _, err := s.Owner(1).Acquire(t.Context(), "freed", lockbench.Options{Wait: time.Minute}); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// deaf sends requests, and keeps the answers.
type deaf struct{}

func (deaf) Pass(ctx context.Context, send func(context.Context) error) error {
	_ = send(ctx)
	return context.Canceled
}

// TestExtendIsUnknown checks that an owner to whom the answer to an extend is lost still has the key.
func TestExtendIsUnknown(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		loses := &losing{}
		held, err := designtest.Acquire(t, open(t, s.Design, s.Service, loses).Locker(design.Blind))
		if err != nil {
			t.Fatal(err)
		}
		loses.next = true
		if err := held.(lockbench.Extender).Extend(t.Context(), time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that the answer was lost", err)
		}
		if err := held.(lockbench.Extender).Extend(t.Context(), time.Hour); err != nil {
			t.Errorf("extended again: %v", err)
		}
		loses.next = true
		_ = held.(lockbench.Extender).Extend(t.Context(), time.Hour) // lost again
		if err := held.Release(t.Context()); err != nil {
			t.Errorf("released: %v", err)
		}
		if _, err := designtest.Acquire(t, s.Owner(1)); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// losing loses the next answer, if next is set.
type losing struct{ next bool }

func (l *losing) Pass(ctx context.Context, send func(context.Context) error) error {
	if err := send(ctx); err != nil || !l.next {
		return err
	}
	l.next = false
	return context.Canceled
}

// TestDeleteOfALateOwner shows the documented fault of kv-delete: a late owner deletes the key of the
// next one.
func TestDeleteOfALateOwner(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		late, err := designtest.Acquire(t, s.Owner(0))
		if err != nil {
			t.Fatal(err)
		}
		if err := late.(lockbench.Extender).Extend(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Owner(1).Acquire(t.Context(), designtest.Key, lockbench.Options{TTL: time.Hour, Wait: 30 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if err := late.Release(t.Context()); errors.Is(err, lockbench.ErrNotHeld) != compares(s.Design) || !compares(s.Design) && err != nil {
			t.Errorf("the late release: %v", err)
		}
		if _, err := designtest.Acquire(t, s.Owner(0)); errors.Is(err, lockbench.ErrNotAcquired) != compares(s.Design) || !compares(s.Design) && err != nil {
			t.Errorf("a third owner beside the second: %v", err)
		}
	})
}

// bucket returns a bucket of a private server, and its stream.
func bucket(t *testing.T, config jetstream.KeyValueConfig) (jetstream.KeyValue, jetstream.Stream) {
	t.Helper()
	l := servicetest.Start(t, nats.Start).Reach().(*nats.Access).Link("", nil)
	t.Cleanup(func() { _ = l.Close() })
	var kv jetstream.KeyValue
	var stream jetstream.Stream
	config.Bucket, config.LimitMarkerTTL = "leases", time.Hour
	if err := l.Do(t.Context(), func(ctx context.Context, on nats.Conn) (err error) {
		if kv, err = on.JetStream.CreateKeyValue(ctx, config); err == nil {
			stream, err = on.JetStream.Stream(ctx, "KV_leases")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return kv, stream
}

// leaseOf returns the lease of a key, as the message has it.
func leaseOf(t *testing.T, stream jetstream.Stream, key string) string {
	t.Helper()
	m, err := stream.GetLastMsgForSubject(t.Context(), "$KV.leases."+key)
	if err != nil {
		t.Fatal(err)
	}
	return m.Header.Get(jetstream.MsgTTLHeader)
}

// TestLeasesAreWholeSeconds shows that the server refuses a lease of less than a second, and drops the
// fraction of one: of two keys the one with the longer lease ends first.
func TestLeasesAreWholeSeconds(t *testing.T) {
	kv, _ := bucket(t, jetstream.KeyValueConfig{})
	var refused *jetstream.APIError
	if _, err := kv.Create(t.Context(), "short", nil, jetstream.KeyTTL(999*time.Millisecond)); !errors.As(err, &refused) {
		t.Errorf("a lease of less than a second: %v, want that it is refused", err)
	}
	watcher, err := kv.WatchAll(t.Context(), jetstream.UpdatesOnly())
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	for _, one := range []struct {
		key string
		ttl time.Duration
	}{{"longer", 1900 * time.Millisecond}, {"shorter", time.Second}} {
		if _, err := kv.Create(t.Context(), one.key, nil, jetstream.KeyTTL(one.ttl)); err != nil {
			t.Fatal(err)
		}
	}
	var ended []string
	for entry := range watcher.Updates() {
		if entry.Operation() == jetstream.KeyValuePut {
			continue
		}
		if ended = append(ended, entry.Key()); len(ended) == 2 {
			break
		}
	}
	if ended[0] != "longer" {
		t.Errorf("leases ended in the order %v", ended)
	}
}

// TestUpdateHasNoLease shows that a key that is extended by Update is locked for ever.
func TestUpdateHasNoLease(t *testing.T) {
	kv, stream := bucket(t, jetstream.KeyValueConfig{})
	revision, err := kv.Create(t.Context(), "k", nil, jetstream.KeyTTL(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if got := leaseOf(t, stream, "k"); got != "1h0m0s" {
		t.Errorf("created with a lease of %q", got)
	}
	if _, err := kv.Update(t.Context(), "k", nil, revision); err != nil {
		t.Fatal(err)
	}
	if got := leaseOf(t, stream, "k"); got != "" {
		t.Errorf("updated with a lease of %q", got)
	}
}

// TestHistoryLengthensLeases shows that a bucket with a history ends no lease before the time of its
// markers.
func TestHistoryLengthensLeases(t *testing.T) {
	kv, stream := bucket(t, jetstream.KeyValueConfig{History: 2})
	if _, err := kv.Create(t.Context(), "k", nil, jetstream.KeyTTL(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := leaseOf(t, stream, "k"); got != "3600" {
		t.Errorf("a lease of %q, want 3600 seconds", got)
	}
}

// TestRuns checks that runs find that the designs keep their claims, and find out a broken one.
func TestRuns(t *testing.T) {
	runtest.Runs(t, family.Designs(), time.Second, "restart-aof,at=100ms,every=500ms")
}
