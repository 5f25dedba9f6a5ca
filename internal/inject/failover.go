package inject

import (
	"context"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/fault"
)

// replicate starts a replica of the server, which replicates through a proxy.
func (in *Injector) replicate(ctx context.Context, _ *plan) (err error) {
	addr, err := in.redis[0].ListenTCP(ctx)
	if err != nil {
		return err
	}
	if in.link, err = openProxy(addr); err != nil {
		return err
	}
	in.replica, err = in.redis[0].StartReplica(ctx, in.link.Address())
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
	in.ledger.cutOff()
	if !in.awaitLoss(ctx, p) {
		return nil // the run is over before that
	}
	in.outages.Add(1)
	defer in.outages.Add(1)
	p.count(in.ledger.unknown(), false)
	err := in.replica.Failover(ctx, func() {
		in.serverRecord.Fault(string(fault.Failover), 0)
		in.serverRecord.Fault(string(fault.ScriptFlush), 0) // replicas know no scripts
	})
	in.endReplica()
	if err != nil || p.Every == 0 || p.over(in.now()+int64(p.Every)) {
		return err
	}
	return in.replicate(ctx, p)
}

// awaitLoss waits until the replica is behind and, if p is limited to held locks, a
// client holds a lock that the replica does not have. It returns false if the faults
// end first.
func (in *Injector) awaitLoss(ctx context.Context, p *plan) bool {
	for {
		granted := in.granted.next()
		if p.While != fault.Held || in.ledger.unknown() {
			if behind, err := in.replica.Behind(ctx); err == nil && behind > 0 {
				return true
			}
		}
		select {
		case <-in.stopping:
			return false
		case <-granted: // the grant is known to its owner, and to the primary alone
		case <-time.After(checkInterval):
		}
	}
}

// A replicaLedger records the locks that clients hold, and the ones among them that a
// disconnected replica cannot have: locks acquired since the cut, on keys that were
// free then or with a lease that has expired since. For other keys the replica may have
// an older grant, which still locks the key. It is safe for concurrent use.
type replicaLedger struct {
	mu    sync.Mutex
	cuts  int64
	cut   time.Time
	held  map[string]int  // number of held locks, by key
	known map[string]bool // keys locked when the replica was cut off
	fresh int             // number of held locks that the replica does not have
}

// A heldKey is one acquire or held lock.
type heldKey struct {
	key          string
	asked        int64 // number of cuts at the time of the acquire
	unreplicated bool
}

// cutOff notes that the replica gets no more data.
func (l *replicaLedger) cutOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cuts++
	l.cut, l.fresh, l.known = time.Now(), 0, map[string]bool{}
	for key := range l.held {
		l.known[key] = true
	}
}

// ask begins an acquire of key.
func (l *replicaLedger) ask(key string) heldKey {
	l.mu.Lock()
	defer l.mu.Unlock()
	return heldKey{key: key, asked: l.cuts}
}

// take notes that s is held now; lease is how long the replica keeps an older grant.
func (l *replicaLedger) take(s *heldKey, lease time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[s.key]++
	if s.asked == l.cuts && (!l.known[s.key] || time.Since(l.cut) > lease) {
		s.unreplicated = true
		l.fresh++
	}
}

// drop notes that s is no longer held.
func (l *replicaLedger) drop(s *heldKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[s.key]--; l.held[s.key] <= 0 {
		delete(l.held, s.key)
	}
	if s.unreplicated && s.asked == l.cuts {
		l.fresh--
	}
}

// unknown reports whether a client holds a lock that the replica does not have.
func (l *replicaLedger) unknown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh > 0
}
