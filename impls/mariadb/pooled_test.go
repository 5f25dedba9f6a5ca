package mariadb_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/mariadb"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"github.com/lockbench/lockbench/internal/testkit/servicetest"
)

// twoOwners reports whether an owner is granted what another one of its process holds.
func twoOwners(t *testing.T, s *stage) bool {
	if _, err := designtest.Acquire(t, s.Owner(0)); err != nil {
		t.Fatal(err)
	}
	_, err := designtest.Acquire(t, s.Owner(0))
	return err == nil
}

// strangersRelease reports whether an owner whose session has ended frees what another holds.
func strangersRelease(t *testing.T, s *stage) bool {
	lost, err := designtest.Acquire(t, s.Owner(0))
	if err != nil {
		t.Fatal(err)
	}
	endSession(t, s.Service)
	waits := lockbench.Options{Wait: time.Minute}
	elsewhere, err := s.Owner(1).Acquire(t.Context(), designtest.Key, waits) // when the session has ended
	if err == nil {
		err = elsewhere.Release(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	held, err := s.Owner(0).Acquire(t.Context(), designtest.Key, waits)
	if err != nil {
		t.Fatal(err)
	}
	freed, kept := lost.Release(t.Context()), held.Release(t.Context())
	if (freed == nil) != errors.Is(kept, lockbench.ErrNotHeld) {
		t.Errorf("the releases return %v and %v", freed, kept)
	}
	return freed == nil
}

// slowly opens a process of a design. Its connections obey orders.
func slowly(t *testing.T, s *stage) (p design.Process, orders chan<- order) {
	all := make(chan order, 1)
	p, err := s.Design.Open(design.Environment{
		Services: []any{s.Service.Reach().(*mariadb.Access).Dialing(func(dial design.Dial) design.Dial {
			return func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				return &slow{Conn: conn, orders: all, closed: make(chan struct{})}, err
			}
		})},
		Prefix: t.Name() + ":",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() }) // it may be closed
	return p, all
}

// An order keeps back the next reply, until it may go on or its connection is closed.
type order struct{ sent, goOn chan struct{} }

// A slow is a connection that obeys orders.
type slow struct {
	net.Conn
	orders <-chan order
	once   sync.Once
	closed chan struct{}
}

func (c *slow) Read(b []byte) (int, error) {
	select {
	case o := <-c.orders:
		close(o.sent)
		select {
		case <-o.goOn:
		case <-c.closed:
		}
	default:
	}
	return c.Conn.Read(b)
}

func (c *slow) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// keptBack begins an acquire of a key whose reply is kept back until goOn is closed, and returns where its
// error is sent.
func keptBack(t *testing.T, p design.Process, orders chan<- order, key string) (goOn chan<- struct{}, result <-chan error) {
	o, got := order{make(chan struct{}), make(chan struct{})}, make(chan error, 1)
	orders <- o
	go func() {
		_, err := p.Locker(design.Blind).Acquire(t.Context(), key, lockbench.Options{})
		got <- err
	}()
	<-o.sent
	return o.goOn, got
}

// leakedKey reports whether a key stays locked when its owner has released it, while another owner's
// request is under way on the connection of the acquire.
func leakedKey(t *testing.T, s *stage) bool {
	p, orders := slowly(t, s)
	held, err := designtest.Acquire(t, p.Locker(design.Blind))
	if err != nil {
		t.Fatal(err)
	}
	goOn, other := keptBack(t, p, orders, "other")
	released := held.Release(t.Context())
	_, err = designtest.Acquire(t, s.Owner(1))
	close(goOn)
	if err := <-other; err != nil {
		t.Error(err)
	}
	if leaks := errors.Is(err, lockbench.ErrNotAcquired); leaks != errors.Is(released, lockbench.ErrNotHeld) {
		t.Errorf("the release returns %v, the next acquire %v", released, err)
	}
	return err != nil
}

// TestPoolEnds checks that the end of a process ends a request that is under way, and its session.
func TestPoolEnds(t *testing.T) {
	s := open(t, pooled, servicetest.Start(t, mariadb.Start))
	p, orders := slowly(t, s)
	if _, err := designtest.Acquire(t, p.Locker(design.Blind)); err != nil { // it connects
		t.Fatal(err)
	}
	_, result := keptBack(t, p, orders, "other")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was given up", err)
	}
	for _, key := range []string{designtest.Key, "other"} {
		if _, err := s.Owner(1).Acquire(t.Context(), key, lockbench.Options{Wait: time.Minute}); err != nil {
			t.Errorf("%s after the end: %v", key, err)
		}
	}
}

// TestPool shows the faults of a session lock on a pool, which runs a statement on the connection that
// was idle for the shortest time, and that the same lock has none in sessions of its own.
func TestPool(t *testing.T) {
	server := servicetest.Start(t, mariadb.Start)
	for name, shows := range map[string]func(*testing.T, *stage) bool{
		"two owners": twoOwners, "a stranger's release": strangersRelease, "a leaked key": leakedKey,
	} {
		for _, d := range []design.Design{session, pooled} {
			t.Run(name+"/"+d.Name, func(t *testing.T) {
				if got := shows(t, open(t, d, server)); got != (d.Name == pooled.Name) {
					t.Errorf("shown: %t", got)
				}
			})
		}
	}
}
