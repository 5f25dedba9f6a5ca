package rueidislock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/redis/rueidis"
)

// majority is how many of a lock's keys must be had, the library's default; there are
// 2*majority-1.
const majority = 2

// holdKey is where a context has its hold.
type holdKey struct{}

// A hold is what can be seen of one lock from the commands that the library sends for
// it: EVALSHA or EVAL, script, 1, key, value, and when the key is to end in Unix ms. The
// first for a value and key acquires, later ones renew, or look after the key where they
// do not move its end. Renewals that overlap are recorded as one.
type hold struct {
	seen     design.Observer
	key      string
	validity time.Duration

	mu      sync.Mutex
	value   string // of the latest try
	from    time.Time
	keys    map[string]time.Time // when those that are had will end
	refused bool                 // some try met another's key
	failed  error                // the latest try that met anything else
	flying  int                  // renewals without an answer yet
	began   time.Time            // the first of them, and
	done    func(time.Duration, error)
}

// sending notes that a command is about to be sent, and returns what notes its answer.
func (h *hold) sending(words []string) func(rueidis.RedisResult) {
	ms, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil || len(words) != 6 {
		return func(rueidis.RedisResult) {}
	}
	name, value, end := words[3], words[4], time.UnixMilli(ms)
	h.mu.Lock()
	defer h.mu.Unlock()
	if value != h.value {
		h.began = h.seen.Attempt(h.key)
		h.value, h.keys = value, map[string]time.Time{}
		// The library had read its clock just before.
		h.from = h.began.Add(-h.began.Sub(end.Add(-h.validity)))
	}
	switch known, had := h.keys[name]; {
	case !had:
		return func(r rueidis.RedisResult) { h.acquired(value, name, end, r) }
	case !end.After(known): // looks whether the key is still its own, as it does when a change is reported
		return func(rueidis.RedisResult) {}
	}
	if h.flying++; h.flying == 1 {
		h.done, h.began = h.seen.Renewing(h.key), time.Now()
	}
	return func(r rueidis.RedisResult) { h.renewed(name, end, r) }
}

// acquired notes the answer to a try for one key.
func (h *hold) acquired(value, name string, end time.Time, r rueidis.RedisResult) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch err := r.Error(); {
	case err == nil && value == h.value:
		h.keys[name] = end
	case rueidis.IsRedisNil(err):
		h.refused = true
	case err != nil && !errors.Is(err, context.Canceled) && !isNoScript(err): // not the end of the wait
		h.failed = err
	}
}

// isNoScript reports whether the server lacks a script, which the library then sends in full.
func isNoScript(err error) bool {
	reply, is := rueidis.IsRedisErr(err)
	return is && reply.IsNoScript()
}

// refusal is what a wait that is over comes to: the library does not say whether others
// held the lock or the server did not answer.
func (h *hold) refusal() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused && h.failed == nil {
		return lockbench.ErrNotAcquired
	}
	if h.failed == nil {
		h.failed = errors.New("no try was answered")
	}
	return fmt.Errorf("waited in vain: %w", h.failed)
}

// renewed notes the answer to the renewal of one key. When none is left without an
// answer, what they came to is known: the lock ends when it has no majority any more.
func (h *hold) renewed(name string, end time.Time, r rueidis.RedisResult) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch n, err := r.AsInt64(); {
	case err == nil && n == 1:
		h.keys[name] = end
	case err == nil:
		h.keys[name] = time.Time{} // gone, though it was had once
	}
	if h.flying--; h.flying > 0 {
		return
	}
	if left := h.end().Sub(h.began); left > 0 {
		h.done(left, nil)
		return
	}
	h.done(0, fmt.Errorf("%w: fewer than %d of its keys are left", lockbench.ErrNotHeld, majority))
}

// end is when the lock ends by what is known of its keys.
func (h *hold) end() time.Time {
	var ends []time.Time
	for _, t := range h.keys {
		ends = append(ends, t)
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return b.Compare(a) })
	if len(ends) < majority {
		return time.Time{}
	}
	return ends[majority-1]
}

// granted is the validity of the try that succeeded.
func (h *hold) granted() design.Validity {
	h.mu.Lock()
	defer h.mu.Unlock()
	return design.Validity{From: h.from, Granted: h.validity}
}
