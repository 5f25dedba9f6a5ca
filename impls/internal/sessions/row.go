package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// A Table has a row for each key, with a token, a fence that rises with each grant, and the end of a lease
// by the server's clock. ok tells whether the row was as the caller says. A release leaves the row, so that
// fences go on to rise.
type Table[C Conn] interface {
	// Take sets the token and a lease where no lease lasts.
	Take(ctx context.Context, conn C, key, token string, lease time.Duration) (fence uint64, ok bool, err error)
	// Extend sets the lease, and Free ends it, where the token is that of a lease that lasts.
	Extend(ctx context.Context, conn C, key, token string, lease time.Duration) (ok bool, err error)
	Free(ctx context.Context, conn C, key, token string) (ok bool, err error)
}

// RowClaims returns the claims of a row with a lease. What was committed is there after a restart: all
// that it keeps, which needs no term of its own.
func RowClaims() lockbench.Claims {
	c := lockbench.LeaseClaims(lockbench.Fencing)
	c.Survives |= lockbench.StateLoss | lockbench.SessionKilled
	c.Also = slices.DeleteFunc(c.Also, func(c lockbench.Cell) bool { return c.Under == lockbench.StateLoss })
	return c
}

// Rows returns a process of a design that locks by rows of a table.
func Rows[C Conn](p *Process[C], in Table[C]) (design.Process, error) {
	random := p.Env.Random
	if random == nil {
		random = rand.Reader
	}
	var id [8]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return nil, err
	}
	r := &rows[C]{in, hex.EncodeToString(id[:]), atomic.Int64{}}
	return design.NewProcess(func(o design.Observer) lockbench.Locker { return &rowOwner[C]{owner[C]{Process: p, seen: o}, r} }, p.Close), nil
}

// rows is the table, and the tokens of a process.
type rows[C Conn] struct {
	Table[C]
	id     string
	grants atomic.Int64
}

// A rowOwner is an owner of rows.
type rowOwner[C Conn] struct {
	owner[C]
	in *rows[C]
}

// ask sends a request about a row.
func (o *rowOwner[C]) ask(ctx context.Context, request func(context.Context, C) error) error {
	conn, err := o.take(ctx)
	if err != nil {
		return err
	}
	err = o.send(ctx, conn, func(ctx context.Context) error { return request(ctx, conn) })
	if err == nil {
		o.put(conn)
	}
	return err
}

// Acquire implements [lockbench.Locker].
func (o *rowOwner[C]) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l := &rowLease[C]{owner: o, key: key}
	l.Granted = design.WholeMillis(opt.TTL)
	err := design.Poll(ctx, opt.Wait, design.Every(TryInterval), func() (ok bool, err error) {
		l.token = fmt.Sprintf("%s-%d", o.in.id, o.in.grants.Add(1)) // one of an earlier try may still take the row
		l.From = o.seen.Attempt(key)
		err = o.ask(ctx, func(ctx context.Context, conn C) (err error) {
			l.fence, ok, err = o.in.Take(ctx, conn, key, l.token, l.Granted)
			return err
		})
		return ok, err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// A rowLease is one grant.
type rowLease[C Conn] struct {
	design.Validity
	owner      *rowOwner[C]
	key, token string
	fence      uint64
}

// Fence implements [lockbench.Fencer].
func (l *rowLease[C]) Fence() uint64 { return l.fence }

// Release implements [lockbench.Lease].
func (l *rowLease[C]) Release(ctx context.Context) error {
	return l.change(ctx, func(ctx context.Context, conn C) (bool, error) { return l.owner.in.Free(ctx, conn, l.key, l.token) })
}

// Extend implements [lockbench.Extender].
func (l *rowLease[C]) Extend(ctx context.Context, ttl time.Duration) error {
	granted, from := design.WholeMillis(ttl), time.Now()
	err := l.change(ctx, func(ctx context.Context, conn C) (bool, error) {
		return l.owner.in.Extend(ctx, conn, l.key, l.token, granted)
	})
	if err == nil {
		l.From, l.Granted = from, granted
	}
	return err
}

// change sends a change of the row. Its error is lockbench.ErrNotHeld if the row is not the owner's.
func (l *rowLease[C]) change(ctx context.Context, request func(context.Context, C) (bool, error)) error {
	ok := false
	err := l.owner.ask(ctx, func(ctx context.Context, conn C) (err error) {
		ok, err = request(ctx, conn)
		return err
	})
	if err == nil && !ok {
		return lockbench.ErrNotHeld
	}
	return err
}
