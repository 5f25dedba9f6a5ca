package designtest

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/locktest"
)

// renewedTTL is the lease of designs that renew: twice the longest time that any of them takes to
// renew a lease. hash-reentrant/watchdog renews every 1733 ms, however short the lease is.
const renewedTTL = 4 * time.Second

// claimsVirtual holds d to its claims in a bubble, in which nothing stays untested. The owners share
// one process, or have one each.
func claimsVirtual(t *testing.T, d design.Design, env onredis.Environment, shared bool) {
	r, err := try(t, d, env, shared)
	if err := errors.Join(err, r.Err()); err != nil {
		t.Error(err)
	}
}

// claimsReal holds d to its claims in real time, with a process for each owner. It skips t if the
// machine was too slow to tell.
func claimsReal(t *testing.T, d design.Design, env onredis.Environment) {
	admin := Admin(t, env)
	ping := func(ctx context.Context) error { return admin.Ping(ctx).Err() }
	r, err := try(t, d, env, false, locktest.WithServer(ping), locktest.WithPatience(time.Minute))
	switch err := errors.Join(err, r.Err()); {
	case err != nil && len(r.Cells.Against()) == 0 && errors.Is(err, locktest.ErrUntested):
		t.Skip(err)
	case err != nil:
		t.Error(err)
	}
}

// try tests d by package locktest, as users test their own locks. It fails t if d sends a command
// that it does not list.
func try(t *testing.T, d design.Design, env onredis.Environment, shared bool, options ...locktest.RunOption) (locktest.Result, error) {
	t.Helper()
	env, gate := Through(env)
	env.Prefix += t.Name() + ":"
	options = append(options, locktest.WithHistories(t.TempDir()), locktest.WithShort())
	if d.LeaseUnit > 0 {
		options = append(options, locktest.WithLeaseUnit(d.LeaseUnit))
	}
	if d.Renews {
		options = append(options, locktest.WithRenewal(), locktest.WithTTL(renewedTTL))
	}
	claims, owners := d.Claims.Terms(), ownProcesses(d, env)
	if shared {
		claims = append(claims, "-"+lockbench.Recovery.At(lockbench.Crash).String()) // no owner dies alone
		owners = sharedProcess(t, d, env)
	}
	r, err := locktest.Try(t.Context(), owners, append(options, locktest.WithClaims(claims...))...)
	declared(t, d, gate)
	return r, err
}

// ownProcesses makes owners of d with a process each.
func ownProcesses(d design.Design, env onredis.Environment) func() (lockbench.Locker, error) {
	env.Pool = 4
	return func() (lockbench.Locker, error) {
		env.PID++
		p, err := d.Open(env.General())
		if err != nil {
			return nil, err
		}
		return owner{p.Locker(design.Blind), p}, nil
	}
}

// An owner is a Locker that ends its process when it is closed.
type owner struct {
	lockbench.Locker
	io.Closer
}

// sharedProcess makes owners of d in one process, which ends with t.
func sharedProcess(t *testing.T, d design.Design, env onredis.Environment) func() (lockbench.Locker, error) {
	env.Pool = 64 // more than there are owners
	p, err := d.Open(env.General())
	if err != nil {
		t.Fatalf("open %s: %v", d.Name, err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close %s: %v", d.Name, err)
		}
	})
	return func() (lockbench.Locker, error) { return thread{p.Locker(design.Blind)}, nil }
}

// A thread is a Locker that leaves its process to others.
type thread struct{ lockbench.Locker }
