package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/locktest"
)

// TestRedsync explores github.com/go-redsync/redsync/v4 v4.14.1, unmodified, on one
// server.
func TestRedsync(t *testing.T) {
	if alone(t, 600, 2000) {
		locktest.Explore(t, newRedsync, locktest.WithClientRetries(0)) // its SET NX is refused by the key that it has set
	}
}

func newRedsync(_ *testing.T, env locktest.Env) lockbench.Locker {
	return redsyncLocker{redsync.New(goredis.NewPool(env.Redis))}
}

type redsyncLocker struct{ client *redsync.Redsync }

// retryEvery is fixed: the library's own pause is random and cannot be seeded.
const retryEvery = 97*time.Millisecond + 3

func (l redsyncLocker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	tries := 1
	if opt.Wait > 0 {
		tries = math.MaxInt
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, opt.Wait, errWaited)
		defer cancel()
	}
	mutex := l.client.NewMutex(key, redsync.WithExpiry(wholeMillis(opt.TTL)), redsync.WithTries(tries), redsync.WithRetryDelay(retryEvery))
	err := mutex.LockContext(ctx)
	var taken *redsync.ErrTaken
	switch {
	case err == nil:
		return &redsyncLease{mutex: mutex, ttl: opt.TTL}, nil
	case errors.As(err, &taken), errors.Is(err, redsync.ErrFailed) && errors.Is(context.Cause(ctx), errWaited):
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNotAcquired, err)
	}
	return nil, err
}

var errWaited = errors.New("waited long enough")

type redsyncLease struct {
	mutex *redsync.Mutex
	ttl   time.Duration
}

func (l *redsyncLease) Release(ctx context.Context) error {
	_, err := l.mutex.UnlockContext(ctx)
	return lostOr(err)
}

func (l *redsyncLease) Extend(ctx context.Context, ttl time.Duration) error {
	redsync.WithExpiry(wholeMillis(ttl)).Apply(l.mutex)
	_, err := l.mutex.ExtendContext(ctx)
	if err == nil {
		l.ttl = ttl
	}
	return lostOr(err)
}

// Valid derives its results from the library's: the start of the attempt plus the
// lease less a hundredth for clocks that drift.
func (l *redsyncLease) Valid() (from time.Time, granted time.Duration) {
	granted = l.ttl - time.Duration(int64(float64(l.ttl)*0.01))
	return l.mutex.Until().Add(-granted), granted
}

// lostOr maps the error of a lost lock to the contract's, and returns other errors
// unchanged.
func lostOr(err error) error {
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) || errors.Is(err, redsync.ErrLockAlreadyExpired) {
		return fmt.Errorf("%w: %w", lockbench.ErrNotHeld, err)
	}
	return err
}
