package mariadb_test

import (
	"context"
	"errors"
	"net"
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

// leakedKey reports whether a key stays locked when its owner has released it, while another owner's
// request is under way on the connection of the acquire.
func leakedKey(t *testing.T, s *stage) bool {
	orders := make(chan order, 1)
	p, err := s.Design.Open(design.Environment{
		Services: []any{s.Service.Reach().(*mariadb.Access).Dialing(func(dial design.Dial) design.Dial {
			return func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				return slow{conn, orders}, err
			}
		})},
		Prefix: t.Name() + ":",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	held, err := designtest.Acquire(t, p.Locker(design.Blind))
	if err != nil {
		t.Fatal(err)
	}
	o := order{make(chan struct{}), make(chan struct{})}
	orders <- o
	other := make(chan error, 1)
	go func() {
		_, err := p.Locker(design.Blind).Acquire(t.Context(), "other", lockbench.Options{})
		other <- err
	}()
	<-o.come
	released := held.Release(t.Context())
	_, err = designtest.Acquire(t, s.Owner(1))
	close(o.goOn)
	if err := <-other; err != nil {
		t.Error(err)
	}
	if leaks := errors.Is(err, lockbench.ErrNotAcquired); leaks != errors.Is(released, lockbench.ErrNotHeld) {
		t.Errorf("the release returns %v, the next acquire %v", released, err)
	}
	return err != nil
}

// An order keeps back a reply that has come, until it may go on.
type order struct{ come, goOn chan struct{} }

// A slow is a connection that obeys orders.
type slow struct {
	net.Conn
	orders <-chan order
}

func (c slow) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case o := <-c.orders:
		close(o.come)
		<-o.goOn
	default:
	}
	return n, err
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
