package history

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/lockbench/lockbench"
)

// maxOwners is how many grants may be neither released nor lost at a time before recording is
// given up: each takes a few kilobytes.
const maxOwners = 1 << 14

// Locker returns inner, recorded, for a service: it is safe for concurrent use where inner is. Each
// acquire is recorded as an owner of its own, which is right for a lock that makes a new token for
// each acquire. Record a lock that recognizes its owner by the Locker with [Recorder.Client]. Keys
// are recorded wholly or not at all, as [Header.Sample] says.
//
// A call never waits for the file. Where the file falls behind, cannot be written, or more than
// 16,384 grants are neither released nor lost, recording is over: the history is partial, and
// [Recorder.Err] says why.
func (r *Recorder) Locker(inner lockbench.Locker) lockbench.Locker { return service{r, inner} }

type service struct {
	recorder *Recorder
	inner    lockbench.Locker
}

func (s service) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	if s.recorder.failed() || !sampled(key, s.recorder.sample) {
		return s.inner.Acquire(ctx, key, opt)
	}
	c := s.recorder.owners.take(s.recorder)
	lease, err := c.Locker(s.inner).Acquire(ctx, key, opt)
	if err != nil {
		s.recorder.owners.holdEnded(c, judge(err, nil).outcome)
	}
	return lease, err
}

// sampled reports whether a key is among a part of all keys: the first 8 bytes of its SHA-256, as
// a fraction, lie below the part. Recorders in other languages choose the same keys.
func sampled(key string, part float64) bool {
	if part <= 0 || part >= 1 {
		return true
	}
	sum := sha256.Sum256([]byte(key))
	return float64(binary.BigEndian.Uint64(sum[:])) < part*(1<<64)
}

// owners are the clients of a service. One is used again once nothing more happens in its name.
type owners struct {
	mu     sync.Mutex
	free   []*Client
	number int32 // of the latest
	busy   int
}

func (o *owners) take(r *Recorder) *Client {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy++; o.busy > maxOwners {
		r.fail(fmt.Errorf("history: %d grants are neither released nor lost; hint: sample fewer keys", maxOwners))
	}
	if last := len(o.free) - 1; last >= 0 {
		c := o.free[last]
		o.free = o.free[:last]
		return c
	}
	o.number++
	c := r.Client(o.number, 0)
	c.owners = o
	return c
}

// holdEnded applies that the hold of a client, or its try, has ended so. What is unknown may
// still happen, in the client's name.
func (o *owners) holdEnded(c *Client, outcome Outcome) {
	c.mu.Lock()
	unsure := c.unsure || outcome == Unknown
	if unsure {
		c.seal()
	}
	c.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy--; !unsure {
		o.free = append(o.free, c)
	}
}
