package hashreentrant

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// undoTime is how long a failed acquire tries to undo a possible grant. A grant
// that it cannot undo ends with its lease.
const undoTime = 500 * time.Millisecond

var (
	//go:embed notify_lock.lua
	notifyLockSource string
	//go:embed notify_keep.lua
	notifyKeepSource string
	//go:embed notify_extend.lua
	notifyExtendSource string
	//go:embed notify_unlock.lua
	notifyUnlockSource string
	//go:embed notify_ttl.lua
	notifyTTLSource string

	notifyLock   = redis.NewScript(notifyLockSource)
	notifyKeep   = redis.NewScript(notifyKeepSource)
	notifyExtend = redis.NewScript(notifyExtendSource)
	notifyUnlock = redis.NewScript(notifyUnlockSource)
	notifyTTL    = redis.NewScript(notifyTTLSource)
)

// notifyLocker is one owner. One goroutine at a time calls Acquire; holds end in
// the background, too.
type notifyLocker struct {
	process  *notifyProcess
	owner    string
	observer design.Observer
	count    int64 // numbers the holds, so that no request of one can affect another

	mu    sync.Mutex
	holds map[string]*hold // holds that may be nested into, by key
}

// Acquire implements lockbench.Locker. It checks whether ctx has ended before
// each request and while it waits; while it awaits a reply it observes only
// ctx's deadline. A nested acquire of a hold that was lost meanwhile returns an
// error that wraps [lockbench.ErrNotHeld]: it takes no new hold in place of the
// lost one.
func (l *notifyLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	if err := checkLease(opt); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("lock %q: %w: %w", key, lockbench.ErrNoEffect, err)
	}
	ttl := design.WholeMillis(opt.TTL)
	if h := l.held(key); h != nil {
		return h.nest(ctx, ttl)
	}
	return l.compete(ctx, l.newHold(key, ttl), opt.Wait)
}

func (l *notifyLocker) held(key string) *hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holds[key]
}

func (l *notifyLocker) newHold(key string, ttl time.Duration) *hold {
	l.count++
	name := l.process.prefix + key
	return &hold{
		locker:  l,
		key:     key,
		name:    name,
		channel: name + ":released",
		number:  strconv.FormatInt(l.count, 10),
		lease:   ttl,
		lost:    make(chan struct{}),
	}
}

// compete tries for h until it is granted or wait is over.
func (l *notifyLocker) compete(ctx context.Context, h *hold, wait time.Duration) (lockbench.Lease, error) {
	w := waiting{listener: l.process.listener, channel: h.channel, until: time.Now().Add(wait)}
	defer w.end()
	for {
		start := l.observer.Attempt(h.key)
		left, granted, err := h.run(ctx, notifyLock, h.lease.Milliseconds())
		switch {
		case err != nil:
			return nil, h.undo(ctx, err)
		case granted && ctx.Err() != nil: // the caller is gone
			return nil, h.undo(ctx, ctx.Err())
		case granted:
			return h.begin(start), nil
		}
		if err := w.wait(ctx, time.Duration(left)*time.Millisecond); err != nil {
			return nil, fmt.Errorf("lock %q: %w", h.key, err)
		}
	}
}

// undo gives back a possible grant to a failed acquire, and returns cause as the
// acquire's error.
func (h *hold) undo(ctx context.Context, cause error) error {
	err := onredis.NoEffect(cause)
	if !errors.Is(err, lockbench.ErrNoEffect) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		_, _, _ = h.run(ctx, notifyUnlock, 0, h.channel)
	}
	return fmt.Errorf("lock %q: %w", h.key, err)
}

// run runs a script on the hold's key. Its first arguments are the owner and the
// number of the hold.
func (h *hold) run(ctx context.Context, script *redis.Script, args ...any) (n int64, isNil bool, err error) {
	args = append([]any{h.locker.owner, h.number}, args...)
	return answer(script.Run(ctx, h.locker.process.client, []string{h.name}, args...))
}
