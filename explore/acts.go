package explore

import (
	"context"
	"time"

	"github.com/lockbench/lockbench"
)

// acquire asks for key and returns the lease, nil when it was refused, failed or
// got no answer: a scenario goes on either way.
func (a *Actor) acquire(ctx context.Context, key string) lockbench.Lease {
	a.Step("acquire")
	lease, err := a.Locker.Acquire(ctx, key, a.Options)
	if err != nil {
		return nil
	}
	return lease
}

// release gives lease up. What the lock answers is in the record.
func (a *Actor) release(ctx context.Context, lease lockbench.Lease) {
	a.Step("release")
	_ = lease.Release(ctx)
}

// extend prolongs lease, if it can be, by the lease that acquires ask for.
func (a *Actor) extend(ctx context.Context, lease lockbench.Lease) {
	e, can := lockbench.Ability[lockbench.Extender](lease)
	if !can {
		return
	}
	a.Step("extend")
	_ = e.Extend(ctx, a.Options.TTL)
}

// versionBits is how much of a version numbers one client's writes.
const versionBits = 40

// write replaces the guarded record, under a version that no other write has.
func (a *Actor) write(ctx context.Context, value int64) {
	a.writes++
	version := uint64(a.ID+1)<<versionBits | a.writes
	_ = a.Store.Write(ctx, a.Keys[0], lockbench.Record{Value: value, Version: version})
}

// rest sleeps for so many leases, in whole seconds as the coarsest designs grant
// them.
func (a *Actor) rest(ctx context.Context, leases float64) {
	a.restFor(ctx, time.Duration(leases*float64(wholeSecondsOf(a.Options.TTL))))
}

func wholeSecondsOf(ttl time.Duration) time.Duration {
	return (ttl + time.Second - 1).Truncate(time.Second)
}

// restOver sleeps until a lease given now is over by its longest reading: whole
// seconds, a second of slack and one of tolerance. Clients that begin it together
// end it together, and meet.
func (a *Actor) restOver(ctx context.Context) {
	const slackAndTolerance = 2 * time.Second
	sleep(ctx, slackAndTolerance+11*wholeSecondsOf(a.Options.TTL)/10)
}

// apart is what keeps the timers of two clients, and those of one client in two
// rounds, from falling due at one instant, where their order would be chance.
const apart = 1_000_003 * time.Nanosecond

// restFor sleeps for a little more than d of virtual time. It ends early with
// ctx, which is at the end of the schedule: what follows then fails at once.
func (a *Actor) restFor(ctx context.Context, d time.Duration) {
	a.rests++
	sleep(ctx, d+time.Duration(1+a.ID+a.rests*a.Clients)*apart)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
