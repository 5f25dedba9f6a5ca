package adapter

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/relay"
)

// A probe asks one question. Probes are asked side by side, each about keys of its own, but for those
// that are asked first, those that look at the answers to the others, and those that follow the one
// before them: these use its process, or start theirs when it has started its own.
type probe struct {
	name    string
	first   bool
	last    bool
	follows bool
	needs   Ability
	unless  func(*Hello) string
	ask     func(*checkup) error
}

var probes = []probe{
	{name: "each request has one answer", first: true, ask: (*checkup).twoRequests},
	{name: "two keys are two locks", first: true, ask: (*checkup).twoKeys},
	{name: "another owner is refused", ask: (*checkup).otherRefused},
	{name: "a release frees the key", ask: (*checkup).releaseFrees},
	{name: "a second release is told", unless: silentReleases, ask: (*checkup).releasedTwice},
	{name: "a hold that was never given is not held", ask: (*checkup).neverGiven},
	{name: "a lease ends, and not before its time", unless: endlessHolds, ask: (*checkup).leaseEnds},
	{name: "the extend of a lost lock is told", follows: true, needs: Extend, unless: endlessHolds, ask: (*checkup).extendTold},
	{name: "an extend prolongs the lease", needs: Extend, ask: (*checkup).extends},
	{name: "the release of a lost lock is told", unless: neverLost, ask: (*checkup).lossTold},
	{name: "a late release leaves the lock of the next owner", unless: endlessHolds, ask: (*checkup).lateRelease},
	{name: "the time left", needs: TTL, ask: (*checkup).timeLeft},
	{name: "fences rise", needs: Fence, ask: (*checkup).fencesRise},
	{name: "odd keys", ask: (*checkup).oddKeys},
	{name: "odd leases", unless: hasNoLease, ask: (*checkup).oddLeases},
	{name: "an unknown operation has no effect", ask: (*checkup).unknownOp},
	{name: "a waiter is granted a lock whose lease ends", needs: Wait, unless: endlessHolds, ask: (*checkup).waits},
	{name: "the key of a killed process becomes free", follows: true, ask: (*checkup).killed},
	{name: "the key of a process killed in acquire becomes free", ask: (*checkup).killedInAcquire},
	{name: "a stopped process goes on, and ends when told", follows: true, ask: (*checkup).stopped},
	{name: "without its server an outcome is unknown", ask: (*checkup).cutOff},
	{name: "its twin is silent about losses", unless: neverLost, ask: (*checkup).twinSilent},
	{name: "its twin grants what is refused", follows: true, ask: (*checkup).twinGrants},
	{name: "its twin does not release", follows: true, ask: (*checkup).twinKeeps},
	{name: "the stamps of an answer lie within its request", last: true, unless: unstamped, ask: (*checkup).stampsInside},
}

func hasNoLease(h *Hello) string {
	if h.Leaseless {
		return "its locks have no lease"
	}
	return ""
}

func endlessHolds(h *Hello) string {
	if h.renews() {
		return "it renews its leases"
	}
	return hasNoLease(h)
}

func silentReleases(h *Hello) string {
	if h.ReleaseTells != nil && !*h.ReleaseTells {
		return "its hello says that a release tells nothing"
	}
	return ""
}

func unstamped(h *Hello) string {
	if h.Clock != monotonicClock {
		return "its hello does not say clock " + monotonicClock
	}
	if _, err := monotonic(); err != nil {
		return err.Error()
	}
	return ""
}

func neverLost(h *Hello) string { return cmp.Or(endlessHolds(h), silentReleases(h)) }

func (c *checkup) twoRequests() error {
	for range 2 {
		if _, err := c.a.call(c.ctx, request{Op: opNoop}); err != nil {
			return fmt.Errorf("noop: %w", err)
		}
	}
	return nil
}

func (c *checkup) twoKeys() error {
	one, err := c.acquire(c.a, "one")
	if err != nil {
		return err
	}
	two, err := c.acquire(c.a, "two")
	if err != nil {
		return fmt.Errorf("while the same owner holds another key: %w", err)
	}
	_, first := c.on(c.a, opRelease, "one", one.Hold, 0)
	_, second := c.on(c.a, opRelease, "two", two.Hold, 0)
	return errors.Join(want("release of the first key", first, nil), want("release of the second key", second, nil))
}

func (c *checkup) otherRefused() error {
	if _, err := c.acquireFor(c.a, "other", long); err != nil {
		return err
	}
	_, err := c.acquire(c.b, "other")
	return want("acquire while another process holds the key", err, lockbench.ErrNotAcquired)
}

// long is a lease that does not end during a check.
const long = time.Minute

func (c *checkup) releaseFrees() error {
	got, err := c.acquireFor(c.a, "frees", long)
	if err != nil {
		return err
	}
	if _, err := c.on(c.a, opRelease, "frees", got.Hold, 0); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	_, err = c.acquire(c.b, "frees")
	return want("acquire by another process after the release", err, nil)
}

func (c *checkup) releasedTwice() error {
	got, err := c.acquireFor(c.a, "twice", long)
	if err != nil {
		return err
	}
	if _, err := c.on(c.a, opRelease, "twice", got.Hold, 0); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	_, err = c.on(c.a, opRelease, "twice", got.Hold, 0)
	return told(want("second release", err, lockbench.ErrNotHeld))
}

// told adds a hint to the error of a release that does not tell of a loss.
func told(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; hint: if the lock cannot tell, its hello says release_tells false", err)
}

func (c *checkup) neverGiven() error {
	const none = 1 << 40
	_, err := c.on(c.a, opRelease, "none", none, 0)
	if errors.Is(err, lockbench.ErrNotHeld) || errors.Is(err, lockbench.ErrNoEffect) {
		return nil
	}
	return want("release of a hold that was never given", err, lockbench.ErrNotHeld)
}

// slack is how long a lease may last beyond its time.
const slack = 2500 * time.Millisecond

// granted waits until an owner is granted the key, for a lease of ttl, of a lease that began at an instant,
// or of a hold that ended then. It returns an error if that is too late or, unless the hold ended, too
// early.
func (c *checkup) granted(l *locker, key string, ttl time.Duration, from time.Time, ended bool) (*grant, error) {
	lease := c.lease
	for {
		got, err := c.acquireFor(l, key, ttl)
		took := time.Since(from)
		switch {
		case err == nil && took < lease-c.hello.grain() && !ended:
			return got, fmt.Errorf("the lease of %v was over after %v; hint: if leases are whole seconds, its hello says grain_ms 1000", lease, took.Round(time.Millisecond))
		case err == nil:
			return got, nil
		case !errors.Is(err, lockbench.ErrNotAcquired):
			return nil, err
		case took > lease+slack:
			return nil, fmt.Errorf("the key was not free %v after a lease of %v began", took.Round(time.Millisecond), lease)
		}
		if err := design.Sleep(c.ctx, tryInterval); err != nil {
			return nil, err
		}
	}
}

func (c *checkup) leaseEnds() error {
	from := time.Now()
	got, err := c.acquire(c.a, "lease")
	if err != nil {
		return err
	}
	next, err := c.granted(c.b, "lease", c.lease, from, false)
	if err == nil {
		c.overtaken, c.overtaker = got.Hold, next.Hold
	}
	return err
}

// extendTold extends a lease that is over when its key is free again, but was another owner's meanwhile.
func (c *checkup) extendTold() error {
	if c.overtaken == 0 {
		return notAsked("no other owner was granted the key when the lease was over")
	}
	if _, err := c.on(c.b, opRelease, "lease", c.overtaker, 0); err != nil && !errors.Is(err, lockbench.ErrNotHeld) {
		return fmt.Errorf("release: %w", err)
	}
	_, err := c.on(c.a, opExtend, "lease", c.overtaken, c.lease)
	return want("extend of a lock that another process had since", err, lockbench.ErrNotHeld)
}

// extends extends a lease when half of it is over, and asks for the key when it would have been over but
// for that. It begins again if the machine is too slow to tell.
func (c *checkup) extends() error {
	for {
		from := time.Now()
		got, err := c.acquire(c.a, "extended")
		if err != nil {
			return err
		}
		granted := time.Now()
		if err := design.Sleep(c.ctx, c.lease/2); err != nil {
			return err
		}
		extended := time.Now()
		_, err = c.on(c.a, opExtend, "extended", got.Hold, c.lease)
		switch {
		case errors.Is(err, lockbench.ErrNotHeld) && time.Since(from) >= c.lease:
			continue
		case err != nil:
			return fmt.Errorf("extend: %w", err)
		}
		if err := design.Sleep(c.ctx, time.Until(granted.Add(c.lease+c.lease/5))); err != nil {
			return err
		}
		got, err = c.acquire(c.b, "extended")
		if err == nil && time.Since(extended) >= c.lease-c.hello.grain() {
			if _, err := c.on(c.b, opRelease, "extended", got.Hold, 0); err != nil && !errors.Is(err, lockbench.ErrNotHeld) {
				return fmt.Errorf("release: %w", err)
			}
			continue
		}
		return want("acquire after the first lease, which was extended", err, lockbench.ErrNotAcquired)
	}
}

// waits lets another process, which nobody else asks anything meanwhile, wait for a key that stays taken, and for
// one whose lease ends. The lease of that waiter begins when it is granted, so the waiter can use it then.
func (c *checkup) waits() error {
	l, err := c.open("")
	if err != nil {
		return err
	}
	if _, err := c.acquireFor(c.a, "taken", long); err != nil {
		return err
	}
	_, err = c.wait(l, "taken", long, shortest)
	if err := want("acquire that waits for a key that stays taken", err, lockbench.ErrNotAcquired); err != nil {
		return err
	}
	const tries = 3
	lease := c.hello.granted(500 * time.Millisecond)
	for try := range tries {
		key := fmt.Sprintf("awaited-%d", try)
		from := time.Now()
		if _, err := c.acquireFor(c.a, key, lease); err != nil {
			return err
		}
		called, asked := time.Now(), lease
		got, err := c.wait(l, key, asked, 2*lease)
		if errors.Is(err, lockbench.ErrNoEffect) { // some libraries wait no longer than the lease
			called, asked = time.Now(), 2*lease
			got, err = c.wait(l, key, asked, 2*lease)
		}
		if err != nil {
			return err
		}
		// A lease that began with the call ends before this; one that began with the grant ends later.
		if err := design.Sleep(c.ctx, time.Until(called.Add(asked+lease/5))); err != nil {
			return err
		}
		use := opRelease
		if c.hello.has(Extend) {
			use = opExtend
		}
		_, err = c.on(l, use, key, got.Hold, asked)            // some can only set the lease that they acquired
		over := time.Since(from) > lease+asked-c.hello.grain() // or the machine is slow, or the pauses of the library are long
		if !over || !errors.Is(err, lockbench.ErrNotHeld) {
			err = want(fmt.Sprintf("%s by a waiter within the lease of %v that it was granted", use, asked), err, nil)
			if err == nil {
				c.waited = l
			}
			return err
		}
	}
	return nil
}

// wait acquires a key by the wait of the library.
func (c *checkup) wait(l *locker, key string, ttl, wait time.Duration) (*grant, error) {
	got, err := l.call(c.ctx, request{Op: opAcquire, Key: c.env.Prefix + key, TTLMS: millis(ttl), WaitMS: millis(wait)})
	if err != nil {
		return nil, fmt.Errorf("acquire of %q with a wait of %v: %w", key, wait, err)
	}
	return got, nil
}

// lose lets an owner lose a key to another process, which holds it to the end of the check.
func (c *checkup) lose(l *locker, key string) (hold int64, err error) {
	from := time.Now()
	got, err := c.acquire(l, key)
	if err == nil {
		_, err = c.granted(c.b, key, long, from, true)
	}
	if err != nil {
		return 0, err
	}
	return got.Hold, nil
}

func (c *checkup) lossTold() error {
	hold, err := c.lose(c.a, "lost")
	if err != nil {
		return err
	}
	_, err = c.on(c.a, opRelease, "lost", hold, 0)
	return told(want("release of a key that another process has now", err, lockbench.ErrNotHeld))
}

func (c *checkup) lateRelease() error {
	hold, err := c.lose(c.a, "late")
	if err != nil {
		return err
	}
	_, _ = c.on(c.a, opRelease, "late", hold, 0) // whether it tells of the loss is another question
	_, err = c.acquire(c.a, "late")
	return want("acquire after a late release, while the next owner holds the key", err, lockbench.ErrNotAcquired)
}

func (c *checkup) timeLeft() error {
	got, err := c.acquireFor(c.a, "left", long)
	if err != nil {
		return err
	}
	got, err = c.on(c.a, opTTL, "left", got.Hold, 0)
	if err == nil && (got.TTLMS <= 0 || got.TTLMS > millis(c.hello.granted(long))) {
		err = fmt.Errorf("%d ms of a lease of %v", got.TTLMS, long)
	}
	if err != nil {
		return fmt.Errorf("ttl: %w", err)
	}
	return nil
}

func (c *checkup) fencesRise() error {
	var last uint64
	for _, by := range []*locker{c.a, c.b} {
		got, err := c.acquireFor(by, "fence", long)
		if err != nil {
			return err
		}
		fence, err := strconv.ParseUint(got.Fence, 10, 64)
		if err != nil {
			return fmt.Errorf("fence %q: %w", got.Fence, err)
		}
		if fence <= last {
			return fmt.Errorf("fence %d follows %d", fence, last)
		}
		last = fence
		if _, err := c.on(by, opRelease, "fence", got.Hold, 0); err != nil {
			return fmt.Errorf("release: %w", err)
		}
	}
	return nil
}

// oddKeys are names that locks have stumbled on. Of the last four, two have the same CRC-32, and two the same
// hash in Java.
func oddKeys() []string {
	var every strings.Builder
	for r := range rune(256) {
		every.WriteRune(r)
	}
	return []string{" ", "a b", "*[a-z]?", `'"\$(x)`, "{tag}x", "a:b:", "ключ", every.String(), strings.Repeat("long", 256), "plumless", "buckeroo", "Aa", "BB"}
}

// oddKeys lets one owner hold all of them at once, and releases one after the other.
func (c *checkup) oddKeys() error {
	holds := map[string]int64{}
	for _, key := range oddKeys() {
		got, err := c.acquireFor(c.a, key, long)
		if err != nil {
			return err
		}
		holds[key] = got.Hold
	}
	for _, key := range oddKeys() {
		_, err := c.acquire(c.b, key)
		if err := want(fmt.Sprintf("acquire of %.40q by another process", key), err, lockbench.ErrNotAcquired); err != nil {
			return err
		}
		if _, err := c.on(c.a, opRelease, key, holds[key], 0); err != nil {
			return fmt.Errorf("release of %.40q: %w", key, err)
		}
		if _, err := c.acquire(c.b, key); err != nil {
			return fmt.Errorf("after its release: %w", err)
		}
	}
	return nil
}

func (c *checkup) oddLeases() error {
	for i, ttl := range []time.Duration{time.Millisecond, 12345 * time.Millisecond, 24 * time.Hour} {
		key := fmt.Sprintf("ttl-%d", i)
		got, err := c.acquireFor(c.a, key, ttl)
		if ttl < c.lease || errors.Is(err, lockbench.ErrNoEffect) {
			continue // too short to be held, or it says that it cannot
		}
		if err != nil {
			return fmt.Errorf("a lease of %v: %w", ttl, err)
		}
		_, err = c.on(c.a, opRelease, key, got.Hold, 0)
		if err := want(fmt.Sprintf("release of a lease of %v", ttl), err, nil); err != nil {
			return err
		}
	}
	return nil
}

func (c *checkup) unknownOp() error {
	if _, err := c.a.call(c.ctx, request{Op: opNoop, Later: true}); err != nil {
		return fmt.Errorf("a field that no version has: %w", err)
	}
	_, err := c.a.call(c.ctx, request{Op: "dance"})
	return want("an operation that no version has", err, lockbench.ErrNoEffect)
}

func (c *checkup) cutOff() error {
	l := c.cut
	got, err := c.acquireFor(l, "cut", long)
	if err != nil {
		return err
	}
	connected := 0
	for _, by := range l.relays {
		connected += by.Connections()
		defer by.Begin(relay.Fault{Discard: true})()
	}
	if connected == 0 {
		return nil // it locks on something else
	}
	ask := opRelease
	if c.hello.has(Extend) {
		ask = opExtend
	}
	_, err = c.on(l, ask, "cut", got.Hold, long)
	switch {
	case errors.Is(err, errUnanswered):
		return fmt.Errorf("%s: no answer within %v; hint: give its client a time-out of some 2 s", ask, answerTime)
	case err == nil, errors.Is(err, lockbench.ErrNotHeld), errors.Is(err, lockbench.ErrNotAcquired):
		return want(string(ask)+" without a server", err, errors.New("unknown"))
	}
	return nil
}

func (c *checkup) twinGrants() error {
	twin, err := c.open("grant")
	if err != nil {
		return err
	}
	if _, err := c.acquireFor(c.a, "twin-grants", long); err != nil {
		return err
	}
	_, err = c.acquire(twin, "twin-grants")
	return unbroken("grant", want("acquire while another process holds the key", err, nil))
}

func (c *checkup) twinKeeps() error {
	twin, err := c.open("release")
	if err != nil {
		return err
	}
	got, err := c.acquireFor(twin, "twin-keeps", long)
	if err != nil {
		return err
	}
	_, err = c.on(twin, opRelease, "twin-keeps", got.Hold, 0)
	if err := want("release", err, nil); err != nil {
		return unbroken("release", err)
	}
	_, err = c.acquire(c.b, "twin-keeps")
	return unbroken("release", want("acquire by another process after the release", err, lockbench.ErrNotAcquired))
}

func (c *checkup) twinSilent() error {
	twin, err := c.open("silent")
	if err != nil {
		return err
	}
	hold, err := c.lose(twin, "twin-silent")
	if err != nil {
		return err
	}
	_, err = c.on(twin, opRelease, "twin-silent", hold, 0)
	return unbroken("silent", want("release of a key that another process has now", err, nil))
}

// stampsInside is about every answer of the check that came in time.
func (c *checkup) stampsInside() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lie
}

// unbroken explains a twin that does not break its lock.
func unbroken(how string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("with %s=%s: %w; hint: the kits of lockbench break every adapter, so that a run can be seen to catch it", breakVariable, how, err)
}
