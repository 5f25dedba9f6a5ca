package hashreentrant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// watchdogPause is how long the document's renewal thread sleeps between two
// rounds, whatever the leases are.
const watchdogPause = 1733 * time.Millisecond

// watchdog is the renewal thread of one process with its registry. The registry
// has one entry a key, as in the document: of two owners in the process the later
// one replaces the earlier, and a removal removes the entry of either.
type watchdog struct {
	client *redis.Client
	cancel context.CancelFunc
	ended  chan struct{}

	mu       sync.Mutex
	registry map[string]*lease // by key
}

func startWatchdog(client *redis.Client) *watchdog {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watchdog{client: client, cancel: cancel, ended: make(chan struct{}), registry: map[string]*lease{}}
	go w.run(ctx)
	return w
}

// run ends for good at the first error, even a pool time-out: the document starts
// the thread once, and does not notice its end.
func (w *watchdog) run(ctx context.Context) {
	defer close(w.ended)
	for design.Sleep(ctx, watchdogPause) == nil {
		if err := w.round(ctx); err != nil {
			return
		}
	}
}

// round renews the registered leases, in the order of the keys.
func (w *watchdog) round(ctx context.Context) error {
	w.mu.Lock()
	held := maps.Clone(w.registry)
	w.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(held)) {
		if err := w.renew(ctx, held[key]); err != nil {
			return err
		}
	}
	return nil
}

// renew reports a lost lock only to the observer: the document logs it and goes
// on, and the owner never learns of it.
func (w *watchdog) renew(ctx context.Context, l *lease) error {
	done := l.locker.observer.Renewing(l.key)
	renewed, _, err := answer(renewScript.Run(ctx, w.client, []string{l.name}, l.locker.owner, l.granted.Milliseconds()))
	switch {
	case err != nil:
		done(0, fmt.Errorf("renew %q: %w", l.key, onredis.NoEffect(err)))
		return err
	case renewed == 0:
		done(0, fmt.Errorf("renew %q: %w", l.key, lockbench.ErrNotHeld))
	default:
		done(l.granted, nil)
	}
	return nil
}

func (w *watchdog) watch(l *lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.registry[l.key] = l
}

func (w *watchdog) forget(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.registry, key)
}

// stop ends the thread and waits for it.
func (w *watchdog) stop() {
	w.cancel()
	<-w.ended
}
