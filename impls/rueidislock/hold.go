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

// majority is the number of a lock's keys that an owner needs, the library's default; there
// are 2*majority-1.
const majority = 2

// holdKey is the context key of a hold.
type holdKey struct{}

// A hold observes one lock through the commands that the library sends for it: EVALSHA or
// EVAL, script, 1, key, value, and the end of the key in Unix ms. The first command for a
// value and key acquires, later ones renew, or only check the key if they do not move its
// end. Overlapping renewals are recorded as one.
type hold struct {
	process  *process
	seen     design.Observer
	key      string
	validity time.Duration

	mu      sync.Mutex
	value   string // of the latest try
	from    time.Time
	keys    map[string]time.Time // end of each acquired key
	refused bool                 // some try met a key of another owner
	failed  error                // the latest other error of a try
	left    error                // of the latest removal of a key that was not answered
	flying  int                  // renewals without an answer yet
	began   time.Time            // the first of them, and
	done    func(time.Duration, error)
}

// sending records a command before it is sent, and returns a function that records its
// answer.
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
		h.process.values.Delete(h.value) // the library waits for the removals of a try before the next
		h.process.values.Store(value, h)
		h.value, h.keys = value, map[string]time.Time{}
		// The library had read its clock just before.
		h.from = h.began.Add(-h.began.Sub(end.Add(-h.validity)))
	}
	switch known, had := h.keys[name]; {
	case !had:
		return func(r rueidis.RedisResult) { h.acquired(value, name, end, r) }
	case !end.After(known): // checks whether the key is still its own, after a reported change
		return func(rueidis.RedisResult) {}
	}
	if h.flying++; h.flying == 1 {
		h.done, h.began = h.seen.Renewing(h.key), time.Now()
	}
	return func(r rueidis.RedisResult) { h.renewed(name, end, r) }
}

// acquired records the answer to a try for one key.
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

// isNoScript reports whether err says that the server lacks a script. The library then sends it in
// full.
func isNoScript(err error) bool {
	reply, is := rueidis.IsRedisErr(err)
	return is && reply.IsNoScript()
}

// refusal returns the error after a wait: the library does not tell whether others held the lock or
// the server did not answer.
func (h *hold) refusal() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused && h.failed == nil && h.left == nil {
		return lockbench.ErrNotAcquired
	}
	if h.failed == nil {
		h.failed = h.left
	}
	if h.failed == nil {
		h.failed = errors.New("no try was answered")
	}
	return fmt.Errorf("waited in vain: %w", h.failed)
}

// removes returns the hold whose key a command of the library removes: EVALSHA or EVAL, script, 1,
// key, value, and an end that the script ignores. It returns nil if the command is another one.
func (p *process) removes(words []string) *hold {
	if len(words) != 6 {
		return nil
	}
	h, _ := p.values.Load(words[4])
	found, _ := h.(*hold)
	return found
}

// removed records the answer to the removal of a key.
func (h *hold) removed(r rueidis.RedisResult) {
	if err := r.Error(); err != nil && !isNoScript(err) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.left = err
	}
}

// leftovers returns an error if a key may be left on the server until the end of its lease. The
// library removes the keys of a try that failed, and those of a lock that is released, and does not
// tell whether it could.
func (h *hold) leftovers() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left == nil {
		return nil
	}
	return fmt.Errorf("a key may be left: %w", h.left)
}

// forget ends the observation of removals. All of them have been answered.
func (h *hold) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.process.values.Delete(h.value)
}

// renewed records the answer to the renewal of one key. When all renewals are answered their
// result is known: the lock ends if it has lost its majority.
func (h *hold) renewed(name string, end time.Time, r rueidis.RedisResult) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch n, err := r.AsInt64(); {
	case err == nil && n == 1:
		h.keys[name] = end
	case err == nil:
		h.keys[name] = time.Time{} // gone, though it was acquired once
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

// end returns the end of the lock according to its keys.
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

// granted returns the validity of the try that succeeded. The keys of earlier tries are gone.
func (h *hold) granted() design.Validity {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = nil
	return design.Validity{From: h.from, Granted: h.validity}
}
