package nats

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/nats"
)

// tryInterval is the pause between two tries of an acquire that waits.
const tryInterval = 5 * time.Millisecond

// opener returns the Open of a design. compare is the option of a Delete of a revision.
func opener(compare func(revision uint64) jetstream.KVDeleteOpt) func(design.Environment) (design.Process, error) {
	return func(env design.Environment) (design.Process, error) {
		if len(env.Services) == 0 {
			return nil, errors.New("environment has no NATS; hint: give it the means of one")
		}
		access, ok := env.Services[0].(*nats.Access)
		if !ok {
			return nil, fmt.Errorf("service of the environment is a %T, no NATS; hint: give it the means of one", env.Services[0])
		}
		random := env.Random
		if random == nil {
			random = rand.Reader
		}
		var id [8]byte
		if _, err := io.ReadFull(random, id[:]); err != nil {
			return nil, err
		}
		if err := access.Create(context.Background(), env.Prefix); err != nil {
			return nil, err
		}
		p := &process{link: access.Link(env.Prefix, env.Pass), id: hex.EncodeToString(id[:]), compare: compare}
		return design.NewProcess(func(o design.Observer) lockbench.Locker { return &owner{p, o} }, p.link.Close), nil
	}
}

// A process has one connection for all its owners.
type process struct {
	link    *nats.Link
	id      string // begins the values of its keys
	grants  atomic.Int64
	compare func(revision uint64) jetstream.KVDeleteOpt
}

// An owner is an owner of keys.
type owner struct {
	*process
	seen design.Observer
}

// Acquire implements [lockbench.Locker].
func (o *owner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	l := &lease{in: o.process, key: nats.Key("locks", key)}
	l.Granted = design.WholeSeconds(opt.TTL)
	err := design.Poll(ctx, opt.Wait, design.Every(tryInterval), func() (granted bool, err error) {
		l.value = fmt.Appendf(nil, "%s-%d", o.id, o.grants.Add(1)) // one of an earlier try may still create the key
		l.From = o.seen.Attempt(key)
		err = o.link.Do(ctx, func(ctx context.Context, on nats.Conn) error {
			l.fence, err = on.Bucket.Create(ctx, l.key, l.value, jetstream.KeyTTL(l.Granted))
			if granted = err == nil; errors.Is(err, jetstream.ErrKeyExists) { // an answer
				return nil
			}
			return err
		})
		return granted, err
	})
	if err != nil {
		return nil, err
	}
	l.revision = l.fence
	return l, nil
}

// A lease is one grant.
type lease struct {
	design.Validity
	in       *process
	key      string
	value    []byte
	fence    uint64 // the first revision
	revision uint64 // the newest that is known
}

// Fence implements [lockbench.Fencer].
func (l *lease) Fence() uint64 { return l.fence }

// Release implements [lockbench.Lease].
func (l *lease) Release(ctx context.Context) error {
	return l.change(ctx, func(ctx context.Context, on nats.Conn) error {
		return on.Bucket.Delete(ctx, l.key, l.in.compare(l.revision))
	})
}

// Extend implements [lockbench.Extender].
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	granted, from := design.WholeSeconds(ttl), time.Now()
	var revision uint64
	err := l.change(ctx, func(ctx context.Context, on nats.Conn) error {
		ack, err := on.JetStream.PublishMsg(ctx, &natsgo.Msg{Subject: nats.Subject(on.Bucket, l.key), Data: l.value},
			jetstream.WithExpectLastSequencePerSubject(l.revision), jetstream.WithMsgTTL(granted))
		if err == nil {
			revision = ack.Sequence
		}
		return err
	})
	if err == nil {
		l.From, l.Granted, l.revision = from, granted, revision
	}
	return err
}

// change sends a request that names the revision of the key. If the key has another revision, an extend
// of unknown outcome may have made it. Then change reads it, and sends the request again.
func (l *lease) change(ctx context.Context, request func(context.Context, nats.Conn) error) error {
	for {
		matched := true
		err := l.in.link.Do(ctx, func(ctx context.Context, on nats.Conn) error {
			err := request(ctx, on)
			if matched = !mismatch(err); !matched { // an answer
				return nil
			}
			return err
		})
		if err != nil || matched {
			return err
		}
		var entry jetstream.KeyValueEntry
		err = l.in.link.Do(ctx, func(ctx context.Context, on nats.Conn) (err error) {
			if entry, err = on.Bucket.Get(ctx, l.key); errors.Is(err, jetstream.ErrKeyNotFound) { // an answer
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		if entry == nil || !bytes.Equal(entry.Value(), l.value) {
			return lockbench.ErrNotHeld
		}
		l.revision = entry.Revision()
	}
}

// mismatch reports whether err is the server's answer that the key has another revision.
func mismatch(err error) bool {
	return errors.Is(err, jetstream.ErrKeyRevisionMismatch) || errors.Is(err, jetstream.ErrKeyExists) // as Delete and PublishMsg say it
}
