package nats_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/impls/design"
	family "github.com/lockbench/lockbench/impls/nats"
	"github.com/lockbench/lockbench/internal/service/nats"
	"github.com/lockbench/lockbench/runner"
	"github.com/lockbench/lockbench/workloads"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) *nats.Server {
	server, err := nats.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

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

// A scene is a private server with two processes of a design.
type scene struct {
	design    design.Design
	server    *nats.Server
	processes [2]design.Process
}

func (s *scene) owner(process int) lockbench.Locker { return s.processes[process].Locker(design.Blind) }

// each runs test with each design, on one server.
func each(t *testing.T, test func(*testing.T, *scene)) {
	server := start(t)
	for _, d := range family.Designs() {
		t.Run(d.Name, func(t *testing.T) {
			test(t, &scene{d, server, [2]design.Process{open(t, d, server, nil), open(t, d, server, nil)}})
		})
	}
}

func acquire(t *testing.T, l lockbench.Locker) (lockbench.Lease, error) {
	t.Helper()
	return l.Acquire(t.Context(), "a key", lockbench.Options{TTL: time.Hour})
}

func compares(d design.Design) bool { return d.Name == "nats/kv" }

func TestOneOwnerAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		a := s.owner(0)
		held, err := acquire(t, a)
		if err != nil {
			t.Fatal(err)
		}
		if _, granted := held.(lockbench.Validator).Valid(); granted != time.Hour {
			t.Errorf("a lease of %v", granted)
		}
		if err := held.(lockbench.Extender).Extend(t.Context(), time.Hour); err != nil {
			t.Error(err)
		}
		for _, l := range []lockbench.Locker{a, s.owner(0), s.owner(1)} {
			if _, err := acquire(t, l); !errors.Is(err, lockbench.ErrNotAcquired) {
				t.Errorf("a second acquire: %v, want that it is refused", err)
			}
		}
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := held.(lockbench.Extender).Extend(t.Context(), time.Hour); !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("extended after the release: %v", err)
		}
		if err := held.Release(t.Context()); compares(s.design) && !errors.Is(err, lockbench.ErrNotHeld) {
			t.Errorf("released twice: %v", err)
		}
		again, err := acquire(t, s.owner(1))
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
		held, err := acquire(t, s.owner(0))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.processes[0].Close(); err != nil {
			t.Fatal(err)
		}
		if _, err = acquire(t, s.owner(1)); !errors.Is(err, lockbench.ErrNotAcquired) {
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
		deafened := open(t, s.design, s.server, deaf{}).Locker(design.Blind)
		for key, ttl := range map[string]time.Duration{"kept": time.Hour, "freed": time.Second} {
			if _, err := deafened.Acquire(t.Context(), key, lockbench.Options{TTL: ttl}); !errors.Is(err, context.Canceled) || errors.Is(err, lockbench.ErrNoEffect) {
				t.Errorf("%s: %v, want that it was given up", key, err)
			}
		}
		if _, err := s.owner(1).Acquire(t.Context(), "kept", lockbench.Options{}); !errors.Is(err, lockbench.ErrNotAcquired) {
			t.Errorf("before its lease has ended: %v", err)
		}
		if _, err := s.owner(1).Acquire(t.Context(), "freed", lockbench.Options{Wait: time.Minute}); err != nil {
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
		held, err := acquire(t, open(t, s.design, s.server, loses).Locker(design.Blind))
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
		if _, err := acquire(t, s.owner(1)); err != nil {
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
		late, err := acquire(t, s.owner(0))
		if err != nil {
			t.Fatal(err)
		}
		if err := late.(lockbench.Extender).Extend(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if _, err := s.owner(1).Acquire(t.Context(), "a key", lockbench.Options{TTL: time.Hour, Wait: 30 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if err := late.Release(t.Context()); errors.Is(err, lockbench.ErrNotHeld) != compares(s.design) || !compares(s.design) && err != nil {
			t.Errorf("the late release: %v", err)
		}
		if _, err := acquire(t, s.owner(0)); errors.Is(err, lockbench.ErrNotAcquired) != compares(s.design) || !compares(s.design) && err != nil {
			t.Errorf("a third owner beside the second: %v", err)
		}
	})
}

// bucket returns a bucket of a private server, and its stream.
func bucket(t *testing.T, config jetstream.KeyValueConfig) (jetstream.KeyValue, jetstream.Stream) {
	t.Helper()
	l := start(t).Reach().(*nats.Access).Link("", nil)
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

// unheld is a lock whose owners let go at once what they are granted.
func unheld(d design.Design) design.Design {
	d.Name = "broken/" + d.Name
	open := d.Open
	d.Open = func(env design.Environment) (design.Process, error) {
		p, err := open(env)
		if err != nil {
			return nil, err
		}
		return design.NewProcess(func(o design.Observer) lockbench.Locker { return letsGo{p.Locker(o)} }, p.Close), nil
	}
	return d
}

type letsGo struct{ lockbench.Locker }

func (l letsGo) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, opt)
	if err != nil {
		return nil, err
	}
	return releasedLease{lease}, lease.Release(ctx)
}

type releasedLease struct{ lockbench.Lease }

func (releasedLease) Release(context.Context) error { return nil }

func (l releasedLease) Valid() (time.Time, time.Duration) {
	return l.Lease.(lockbench.Validator).Valid()
}

func (l releasedLease) Fence() uint64 { return l.Lease.(lockbench.Fencer).Fence() }

// TestRuns checks that runs find that the designs keep their claims, and that a broken one does not.
func TestRuns(t *testing.T) {
	kv := family.Designs()[0]
	for _, d := range append(family.Designs(), unheld(kv)) {
		t.Run(d.Name, func(t *testing.T) {
			o := workloads.Defaults()
			o.Clients, o.Keys, o.TTL, o.Wait, o.Stallers = 8, 2, time.Second, 20*time.Millisecond, 0
			o.Hold, o.Warmup, o.Seed, o.Operations = workloads.Always(time.Millisecond), 0, 1, 2000
			p := runner.Plan{
				Subjects: []runner.Subject{{Design: d}}, Workload: workloads.Must("oversell"), Options: o, History: t.TempDir(),
				Faults: []string{"cut,p=0.02", "lost-reply,p=0.02", "cancel,p=0.02", "crash,p=0.01", "restart-aof,at=100ms,every=500ms"},
			}
			r, err := runner.Run(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			j := r.Runs[0]
			if j.Err != nil || j.Verdicts.Grants == 0 || len(j.Verdicts.Defects) > 0 {
				t.Fatalf("error %v, %d grants, defects %v", j.Err, j.Verdicts.Grants, j.Verdicts.Defects)
			}
			broken := false
			for _, f := range j.Verdicts.Findings {
				if f.Against == 0 {
					continue
				}
				broken = broken || f.Verdict == checker.Broken && f.Cell.Guarantee == lockbench.Exclusion
				if d.Name != "broken/"+kv.Name {
					t.Errorf("%s: %s", f.Cell, f.Counterexample.Sentence)
				}
			}
			if want := d.Name == "broken/"+kv.Name; broken != want {
				t.Errorf("exclusion is broken: %t, want %t", broken, want)
			}
		})
	}
}
