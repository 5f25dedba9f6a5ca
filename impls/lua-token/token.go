package luatoken

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// token is one owner of lua-token/token, the last stage of its document: a lock
// object per key.
//
// Documented faults: the answer of the unlock script is ignored, so a holder that lost the lock is
// not told. The value belongs to the object and serves its next lock too: an unlock that arrives
// late frees the next lock. The object counts as unlocked before the unlock is sent, and does not
// count as locked if the reply to a lock was lost: in neither case can the key be released before
// the lease ends. Fractions of a second: as in lua-token/expire.
type token struct {
	polling
	objects map[string]*object
}

// An object is the document's lock object for one key.
type object struct {
	value  string
	locked bool
}

// Acquire implements lockbench.Locker. In the document locking a locked object throws, and
// that is caught: it is refused.
func (t *token) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	o, err := t.object(key)
	if err != nil {
		return nil, err
	}
	if o.locked {
		t.seen.Attempt(key)
		return nil, fmt.Errorf("%w: already locked", lockbench.ErrNotAcquired)
	}
	v, err := t.lock(ctx, key, o.value, opt)
	if err != nil {
		return nil, err
	}
	o.locked = true
	return &objectLease{Validity: v, object: o, owner: t, key: t.env.Prefix + key}, nil
}

// object returns the lock object of key, made at its first use.
func (t *token) object(key string) (*object, error) {
	if o := t.objects[key]; o != nil {
		return o, nil
	}
	id, err := uuid.NewRandomFromReader(t.env.Random)
	if err != nil {
		return nil, fmt.Errorf("%w: random value: %w", lockbench.ErrNoEffect, err)
	}
	o := &object{value: id.String() + "." + strconv.FormatInt(t.env.Now().UnixMilli(), 10)}
	t.objects[key] = o
	return o, nil
}

// objectLease is a grant to an object. It releases whatever lock the object has by then.
type objectLease struct {
	design.Validity
	*object
	owner *token
	key   string
}

// Release implements lockbench.Lease. It reports a loss only if the object was
// unlocked already, and then without asking the server.
func (l *objectLease) Release(ctx context.Context) error {
	if !l.locked {
		return fmt.Errorf("%w: not locked", lockbench.ErrNotHeld)
	}
	l.locked = false
	_, err := run(ctx, l.owner.client, releaseScript, &l.key, l.value)
	return onredis.NoEffect(err)
}
