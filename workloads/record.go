package workloads

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench"
)

// versionBits is the number of bits of a version that count one client's writes. The
// client's part begins at 1 for client 0, which leaves the versions below for the
// prepared stock.
const versionBits = 40

// Read reads the record that the round's lock guards. It returns false, without an
// error, when the store's guard refused.
func (c *Client) Read(ctx context.Context, lease lockbench.Lease) (rec lockbench.Record, ok bool, err error) {
	if guarded, is := c.store.(lockbench.GuardedStore); is {
		rec, err = guarded.ReadGuarded(ctx, c.keyAt(0), fence(lease))
	} else {
		rec, err = c.store.Read(ctx, c.keyAt(0))
	}
	ok, err = c.admitted(err)
	return rec, ok, err
}

// Write replaces the record base, which was read before, by value, under a version no
// other write of the run has. It returns false, without an error, when the store's guard
// refused.
func (c *Client) Write(ctx context.Context, lease lockbench.Lease, base lockbench.Record, value int64) (ok bool, err error) {
	c.writes++
	rec := lockbench.Record{Value: value, Version: c.version()}
	if guarded, is := c.store.(lockbench.GuardedStore); is {
		err = guarded.WriteGuarded(ctx, c.keyAt(0), rec, lockbench.Standing{Fence: fence(lease), Base: base.Version})
	} else {
		err = c.store.Write(ctx, c.keyAt(0), rec)
	}
	ok, err = c.admitted(err)
	c.enter(value-base.Value, ok, err)
	return ok, err
}

// version is the version of the client's last write, unique in the run.
func (c *Client) version() uint64 { return uint64(c.ID+1)<<versionBits | c.writes }

// fence is the fencing number of the grant, 0 if the design gives none.
func fence(lease lockbench.Lease) uint64 {
	if f, ok := lockbench.Ability[lockbench.Fencer](lease); ok {
		return f.Fence()
	}
	return 0
}

// admitted counts the store's answer. A refusal by its guard is data, not an error.
func (c *Client) admitted(err error) (bool, error) {
	if errors.Is(err, lockbench.ErrStale) {
		c.Counts.Stale.Add(1)
		return false, nil
	}
	return err == nil, c.failed(err)
}
