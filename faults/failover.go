package faults

import (
	"context"
	"time"
)

// replicate starts a replica of the server, by the way of a proxy.
func (in *Injector) replicate(ctx context.Context) (err error) {
	addr, err := in.config.Servers.First().ListenTCP(ctx)
	if err != nil {
		return err
	}
	if in.link, err = openProxy(addr); err != nil {
		return err
	}
	in.replica, err = in.config.Servers.First().StartReplica(ctx, in.link.Address())
	return err
}

// endReplica ends the replica that did not take the server's place, and its link.
func (in *Injector) endReplica() {
	if in.replica != nil {
		if err := in.replica.Close(); err != nil {
			in.failed(Failover, err)
		}
		in.replica = nil
	}
	if in.link != nil {
		in.link.Close()
		in.link = nil
	}
}

// failOver cuts the replica off, waits for a grant that it does not know, kills the
// server and has the replica take its place; and starts another one for the next time.
func (in *Injector) failOver(ctx context.Context, p *plan) error {
	in.link.Close()
	in.lag.Add(1)
	in.fresh.Store(0)
	if !in.awaitLoss(ctx, p) {
		return nil // the run is over before that
	}
	in.away.Store(true)
	defer in.away.Store(false)
	p.struckNow(in.fresh.Load() > 0, false)
	err := in.replica.Failover(ctx, func() {
		in.machine.Fault(string(Failover), 0)
		in.machine.Fault(string(ScriptFlush), 0) // replicas know no scripts
	})
	in.endReplica()
	if err != nil || p.Every == 0 || p.over(in.now()+int64(p.Every)) {
		return err
	}
	return in.replicate(ctx)
}

// awaitLoss waits until the replica is behind and, if p wants so, a client holds a lock
// that was granted since it was cut off. It returns false when the faults end first.
func (in *Injector) awaitLoss(ctx context.Context, p *plan) bool {
	for {
		behind, err := in.replica.Behind(ctx)
		if err == nil && behind > 0 && (p.While != Held || in.fresh.Load() > 0) {
			return true
		}
		select {
		case <-in.stopping:
			return false
		case <-time.After(lookEvery):
		}
	}
}

// granted notes a lock in hand, and returns what released is to be told of it.
func (in *Injector) granted() (lag int64) {
	lag = in.lag.Load()
	in.fresh.Add(1)
	return lag
}

// released notes that a lock which was granted at lag is in hand no more.
func (in *Injector) released(lag int64) {
	if lag == in.lag.Load() {
		in.fresh.Add(-1)
	}
}
