package inject

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// checkInterval is the interval between checks, for a due fault, of states that no event reports:
// whether a replica is behind, and whether a lock is still held without news of it.
const checkInterval = 10 * time.Millisecond

// injectOnSchedule injects p into the server on schedule until ctx ends.
func (in *Injector) injectOnSchedule(ctx context.Context, p *plan) {
	for in.sleep(ctx, time.Duration(p.due.Load())-time.Since(in.start)) {
		if p.over(in.now()) {
			return
		}
		if p.While == fault.Held && !in.awaitGrant(ctx, p) {
			return
		}
		in.injectOnServer(ctx, p)
		if p.Every == 0 {
			return
		}
		p.due.Store(in.now() + int64(p.Every))
	}
}

// grantPatience divides the lease: while a lock is held, a due fault waits for a new grant for
// lease/grantPatience at most. After a new grant more of the lease is left to see the effect.
const grantPatience = 4

// awaitGrant waits for the moment at which p occurs: the next grant or, if there is none for a
// while, any held lock. It returns false if the faults or the time of p end before. A failover
// waits for a grant of its own later, and here only for a held lock.
func (in *Injector) awaitGrant(ctx context.Context, p *plan) bool {
	late := time.Now()
	if !p.how.counts {
		late = late.Add(in.config.Lease / grantPatience)
	}
	for {
		now := in.clients().Holding(ctx, max(time.Until(late), checkInterval))
		switch {
		case ctx.Err() != nil || p.over(in.now()):
			return false
		case now.Granted, now.Held && !time.Now().Before(late):
			return true
		}
	}
}

// sleep waits for d and reports whether it ended before ctx.
func (in *Injector) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (in *Injector) injectOnServer(ctx context.Context, p *plan) {
	in.injecting.Lock()
	defer in.injecting.Unlock()
	if !p.how.counts {
		in.occurs(p)
	}
	if err := p.how.occur(in, context.WithoutCancel(ctx), p); err != nil {
		in.failed(p.Kind, err)
	}
}

// keepLogs makes Redis servers log acknowledged writes, as other durable services always do.
func (in *Injector) keepLogs(ctx context.Context, _ *plan) (err error) {
	for _, s := range in.redis {
		err = errors.Join(err, s.KeepLog(ctx))
	}
	return err
}

// admin calls f with a connection of its own to s.
func admin(s *servers.Server, f func(*redis.Client) error) error {
	opt := s.Options()
	opt.PoolSize = 1
	client := redis.NewClient(opt)
	defer client.Close()
	return f(client)
}

// everywhere calls f with a connection of its own to each server.
func (in *Injector) everywhere(f func(*redis.Client) error) error {
	var errs []error
	for _, s := range in.redis {
		errs = append(errs, admin(s, f))
	}
	return errors.Join(errs...)
}

// next returns the server to affect next. in.injecting is held.
func (in *Injector) next() design.Service {
	s := in.config.Services[in.nextServer%len(in.config.Services)]
	in.nextServer++
	return s
}

func (in *Injector) flushScripts(ctx context.Context, _ *plan) error {
	// It is recorded first, so that no command misses a script before the recorded loss.
	in.record(string(fault.ScriptFlush), 0)
	return in.everywhere(func(client *redis.Client) error { return client.ScriptFlush(ctx).Err() })
}

// pauseServer suspends the server. It answers the commands that arrived meanwhile when it resumes. The pause
// is recorded once the server stands still, so that no lock is granted between the two.
func (in *Injector) pauseServer(_ context.Context, p *plan) error {
	defer in.leave()()
	s := in.next().(design.Suspender)
	if err := s.Suspend(); err != nil {
		return err
	}
	in.record(string(fault.ServerPause), int64(p.For))
	select {
	case <-time.After(p.For):
	case <-in.lasting.Done():
	}
	err := s.Resume()
	in.record(fault.ServerResume, 0)
	return err
}

func (in *Injector) restartEmpty(ctx context.Context, _ *plan) error {
	defer in.leave()()
	in.hangUp()
	// It is recorded between stop and start, so every grant of the old server was called
	// before it.
	return in.next().(design.Restarter).Restart(ctx, func() { in.record(string(fault.Restart), 0) })
}

func (in *Injector) restartFromAOF(ctx context.Context, _ *plan) error {
	defer in.leave()()
	s := in.next().(design.Restarter)
	err := s.Restart(ctx, func() {
		in.record(string(fault.RestartAOF), 0)
		in.forgetScripts()
		in.prolongedJustNow(s)
	})
	in.prolonged(s)
	return err
}

// forgetScripts records that a server forgot its scripts, if it is one that has some.
func (in *Injector) forgetScripts() {
	if len(in.redis) > 0 {
		in.record(string(fault.ScriptFlush), 0)
	}
}

// prolonged records that s prolongs leases, if it does.
func (in *Injector) prolonged(s design.Restarter) {
	if p, prolongs := s.(design.Prolonger); prolongs {
		in.record(fault.LeasesProlonged, int64(p.Prolongs()))
	}
}

// justNow is how long ago leases were prolonged, on record, at most, when a server starts that prolongs them.
const justNow = 250 * time.Millisecond

// prolongedJustNow is like prolonged, and returns soon after that is on record everywhere. A machine that is
// lost takes seconds, and those that had recorded it before record it again.
func (in *Injector) prolongedJustNow(s design.Restarter) {
	for took := justNow; took >= justNow; {
		began := time.Now()
		in.prolonged(s)
		took = time.Since(began)
	}
}

func (in *Injector) addMembers(ctx context.Context, _ *plan) error {
	for _, s := range in.config.Services {
		if err := s.(design.Elector).Enlarge(ctx); err != nil {
			return err
		}
	}
	return nil
}

// electionInterval is the time between two looks for an election. It is shorter than the slack of a refusal.
const electionInterval = 100 * time.Millisecond

// watchElections records that leases are prolonged after each election, until the faults end. Some elections
// come by themselves, on a busy machine.
func (in *Injector) watchElections(ctx context.Context, _ *plan) error {
	for _, service := range in.config.Services {
		s := service.(design.Elector)
		known, err := s.Term(ctx)
		if err != nil {
			return err
		}
		in.work.Go(func() {
			for in.sleep(ctx, electionInterval) {
				term, err := s.Term(ctx)
				if err != nil || term == known { // a server that is down has no term
					continue
				}
				known = term
				in.injecting.Lock()
				in.prolonged(s)
				in.injecting.Unlock()
			}
		})
	}
	return nil
}

func (in *Injector) loseLeader(ctx context.Context, _ *plan) error {
	defer in.leave()()
	s := in.next().(design.Elector)
	err := s.LoseLeader(ctx, func() {
		in.record(string(fault.LeaderLost), 0)
		in.prolongedJustNow(s)
	})
	in.prolonged(s)
	return err
}

func (in *Injector) killClients(ctx context.Context, _ *plan) error {
	in.record(string(fault.ClientKill), 0)
	in.hangUp()
	return in.everywhere(func(client *redis.Client) error {
		return client.Do(ctx, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err()
	})
}

func (in *Injector) killSessions(ctx context.Context, _ *plan) error {
	defer in.leave()() // lockbench's own session is one of them
	in.record(fault.KillingSessions, 0)
	in.hangUp()
	err := in.next().(design.SessionEnder).EndSessions(ctx)
	in.record(string(fault.SessionKill), 0)
	return err
}

// evict makes the server evict all keys with a TTL within one turn of its loop, so that no
// other command finds it short of memory. The records of the workload have no TTL and stay.
func (in *Injector) evict(ctx context.Context, _ *plan) error {
	in.record(fault.Evicting, 0) // the time of eviction is known only to lie after this
	err := admin(in.next().(*servers.Server), func(client *redis.Client) error {
		_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.ConfigSet(ctx, "maxmemory-policy", "volatile-random")
			p.ConfigSet(ctx, "maxmemory", "1")
			p.Echo(ctx, "evict") // the server checks its memory before each command
			p.ConfigSet(ctx, "maxmemory", "0")
			return nil
		})
		return err
	})
	in.record(string(fault.Evict), 0)
	return err
}

// takeDown kills the last servers of the group, for p.For if that is set. They come back
// empty. It is recorded when they are dead, so that they grant no lock after that.
func (in *Injector) takeDown(ctx context.Context, p *plan) error {
	for _, s := range slices.Backward(in.redis[len(in.redis)-p.N:]) {
		if slices.Contains(in.killed, s) {
			continue
		}
		if err := s.Kill(); err != nil {
			return err
		}
		in.killed = append(in.killed, s)
	}
	in.record(string(fault.Down), int64(p.N))
	if p.For > 0 {
		in.sleep(ctx, p.For)
		return in.raise(ctx)
	}
	return nil
}

// raise starts the servers that are down, empty.
func (in *Injector) raise(ctx context.Context) error {
	var errs []error
	for _, s := range in.killed {
		errs = append(errs, s.Restart(ctx, func() { in.record(string(fault.Restart), 0) }))
	}
	in.killed = nil
	return errors.Join(errs...)
}

// bringUp starts all servers that are down.
func (in *Injector) bringUp() {
	if err := in.raise(context.Background()); err != nil {
		in.failed(fault.Down, err)
	}
}
