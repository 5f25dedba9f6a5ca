package inject

import (
	"context"
	"sync"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/relay"
)

// replicate starts a replica of the server, which replicates through a relay.
func (in *Injector) replicate(ctx context.Context, _ *plan) (err error) {
	s := in.config.Services[0].(design.Replicator)
	addr, err := s.ListenTCP(ctx)
	if err != nil {
		return err
	}
	if in.link, err = relay.Listen(relay.To(addr), nil); err != nil {
		return err
	}
	in.replica, err = s.StartReplica(ctx, in.link.Address())
	return err
}

// endReplica ends a replica that did not take the server's place, and its link.
func (in *Injector) endReplica() {
	if in.replica != nil {
		if err := in.replica.Close(); err != nil {
			in.failed(fault.Failover, err)
		}
		in.replica = nil
	}
	if in.link != nil {
		in.link.Close()
		in.link = nil
	}
}

// failOver cuts the replica off, waits for a grant that the replica does not have,
// kills the server and promotes the replica. Then it starts another replica for the
// next time.
func (in *Injector) failOver(ctx context.Context, p *plan) error {
	in.link.Close()
	in.clients().Apply(Effect{Kind: CutsOff})
	if !in.awaitLoss(ctx, p) {
		return nil // the run is over before that
	}
	defer in.leave()()
	in.occurs(p)
	err := in.replica.Failover(ctx, func() {
		in.record(string(fault.Failover), 0)
		in.forgetScripts() // replicas know none
	})
	in.endReplica()
	if err != nil || p.Every == 0 || p.over(in.now()+int64(p.Every)) {
		return err
	}
	return in.replicate(ctx, p)
}

// awaitLoss waits until the replica lacks data and, if p is limited to held locks, a client holds a
// lock that the replica does not have. It returns false if the faults end before.
func (in *Injector) awaitLoss(ctx context.Context, p *plan) bool {
	for wait := time.Duration(0); ; wait = checkInterval {
		now := in.clients().Holding(ctx, wait) // a new grant is known to its owner, and to the primary alone
		if p.While != fault.Held || now.Unreplicated {
			if behind, err := in.replica.Behind(ctx); err == nil && behind > 0 {
				return true
			}
		}
		if in.lasting.Err() != nil {
			return false
		}
	}
}

// replicaLocks knows which held locks a disconnected replica cannot have: locks acquired since the
// cut, if their keys were free then or had leases that expired since. For other keys the replica
// may have an older grant, which still locks the key. It is safe for concurrent use.
type replicaLocks struct {
	mu           sync.Mutex
	cuts         int64
	cut          time.Time
	held         map[string]int  // number of held locks, by key
	onReplica    map[string]bool // keys locked when the replica was cut off
	unreplicated int             // number of held locks that the replica does not have
}

// A heldKey is one acquire, and then the held lock.
type heldKey struct {
	key          string
	cutsAtCall   int64 // number of cuts at the time of the acquire
	unreplicated bool
}

// cutOff notes that the replica gets no more data.
func (l *replicaLocks) cutOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cuts++
	l.cut, l.unreplicated, l.onReplica = time.Now(), 0, map[string]bool{}
	for key := range l.held {
		l.onReplica[key] = true
	}
}

// acquireCalled returns the heldKey of an acquire of key that begins now.
func (l *replicaLocks) acquireCalled(key string) heldKey {
	l.mu.Lock()
	defer l.mu.Unlock()
	return heldKey{key: key, cutsAtCall: l.cuts}
}

// acquired notes that s is held now. lease is how long the replica keeps an older grant.
func (l *replicaLocks) acquired(s *heldKey, lease time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[s.key]++
	if s.cutsAtCall == l.cuts && (!l.onReplica[s.key] || time.Since(l.cut) > lease) {
		s.unreplicated = true
		l.unreplicated++
	}
}

// released notes that s is no longer held.
func (l *replicaLocks) released(s *heldKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[s.key]--; l.held[s.key] <= 0 {
		delete(l.held, s.key)
	}
	if s.unreplicated && s.cutsAtCall == l.cuts {
		l.unreplicated--
	}
}

// anyUnreplicated reports whether a client holds a lock that the replica does not have.
func (l *replicaLocks) anyUnreplicated() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unreplicated > 0
}
