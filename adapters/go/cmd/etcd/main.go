// Command etcd is the mutex of package go.etcd.io/etcd/client/v3/concurrency. Each acquire has a session
// of its own, whose lease begins with the attempt. The session renews it until the release.
//
// One module cannot have two versions of the client. The build tag etcd35 goes with etcd35.mod, which
// has the newest 3.5:
//
//	go build -modfile=etcd35.mod -tags etcd35 -o etcd35 ./cmd/etcd
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	etcd "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockbench/lockbench/adapters/go/kit"
)

type lock struct{ *etcd.Client }

func open(address, _ string) (kit.Lock, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	password, _ := u.User.Password()
	client, err := etcd.New(etcd.Config{Endpoints: []string{u.Host}, Username: u.User.Username(), Password: password, DialTimeout: 2 * time.Second})
	return lock{client}, err
}

// hold opens a session. NewSession could grant the lease, but would wait for ever.
func (l lock) hold(ctx context.Context, key string, ttl time.Duration) (h hold, err error) {
	h.lease, err = l.Grant(ctx, int64((ttl+time.Second-1)/time.Second))
	if err == nil {
		h.Session, err = concurrency.NewSession(l.Client, concurrency.WithLease(h.lease.ID))
	}
	if err != nil {
		return h, fmt.Errorf("%w: %w", kit.ErrNoEffect, err)
	}
	h.Mutex = concurrency.NewMutex(h.Session, key)
	return h, nil
}

func (l lock) Acquire(ctx context.Context, key string, ttl time.Duration) (kit.Hold, error) {
	h, err := l.hold(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	if err = h.TryLock(ctx); err != nil {
		_ = h.end(ctx) // without an answer the lease ends by itself
	}
	if errors.Is(err, concurrency.ErrLocked) { // and its key is deleted
		err = kit.ErrRefused
	}
	return h, err
}

func (l lock) AcquireWithin(ctx context.Context, key string, ttl, wait time.Duration) (kit.Hold, error) {
	h, err := l.hold(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err = h.Lock(waiting); err != nil && h.end(ctx) == nil && waiting.Err() != nil {
		err = kit.ErrRefused // its key is deleted with the lease
	}
	return h, err
}

type hold struct {
	*concurrency.Mutex
	*concurrency.Session
	lease *etcd.LeaseGrantResponse
}

// end is the session's Close with a time-out.
func (h hold) end(ctx context.Context) error {
	h.Orphan()
	_, err := h.Client().Revoke(ctx, h.lease.ID)
	return err
}

func (h hold) Release(ctx context.Context) error {
	err := h.Unlock(ctx)
	if alreadyReleased(err) {
		return fmt.Errorf("%w: %w", kit.ErrNotHeld, err)
	}
	_ = h.end(ctx) // the key is deleted, or err says that this is not known
	return err
}

func (h hold) Fence() int64           { return h.Header().Revision }
func (h hold) Lost() <-chan struct{}  { return h.Done() }
func (h hold) Granted() time.Duration { return time.Duration(h.lease.TTL) * time.Second }

func main() {
	tells := false // Unlock deletes the key, and does not say whether it was there
	const module = "go.etcd.io/etcd/client/v3"
	kit.Serve(kit.Hello{
		Name: name, Library: module, Version: kit.Version(module), Service: "etcd", Owners: 64,
		Can: []string{"wait", "fence", "lost", "cancel"}, Renews: "unseen", ReleaseTells: &tells, GrainMS: 1000,
		Claims: []string{"-no-spurious-refusal: TryLock puts its key before it looks whose is the oldest, so that all who try a free key at once may be refused"},
	}, open)
}
