package adapter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// tryInterval is the pause between two tries of an acquire that may wait.
const tryInterval = 10 * time.Millisecond

// A locker is one owner.
type locker struct {
	*process
	seen   design.Observer
	number int
	// turn has an element while a request of the owner is under way. An owner without an answer makes
	// no other request.
	turn chan struct{}
	// ask makes a request: call, or that of a bridge in an exploration.
	ask func(context.Context, request) (*grant, error)
}

// errBusy is the error of a request while the last one of its owner has no answer.
var errBusy = errors.New("the owner's last request has no answer yet")

// call makes a request and waits for its answer, for at most the wait of the request and answerTime.
func (l *locker) call(ctx context.Context, r request) (*grant, error) {
	late := time.NewTimer(time.Duration(r.WaitMS)*time.Millisecond + answerTime)
	defer late.Stop()
	select {
	case l.turn <- struct{}{}:
	case <-late.C:
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, errBusy)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, ctx.Err())
	}
	r.Owner = l.number
	sent := time.Now()
	id, answered, err := l.program.send(r)
	if err != nil {
		<-l.turn
		return nil, err
	}
	given := ctx.Done()
	for {
		select {
		case a := <-answered:
			read := time.Now()
			<-l.turn
			if err := l.ran(a, sent, read); err != nil {
				return nil, err
			}
			return result(a)
		case <-l.program.done:
			<-l.turn
			return nil, l.program.err()
		case <-given:
			if err := l.cancel(ctx, id); err != nil {
				l.leave(answered)
				return nil, err
			}
			given = nil
		case <-late.C:
			l.leave(answered)
			return nil, fmt.Errorf("%s: %w", r.Op, errUnanswered)
		}
	}
}

// ran takes the stamps of an answer to a request that was sent and an answer that was read then. If they are
// impossible, the program is of no use, unless a check only looks at them.
func (l *locker) ran(a answer, sent, read time.Time) error {
	if a.ReturnNS > 0 {
		l.widths.add(read.Sub(sent) - time.Duration(a.ReturnNS-a.CallNS))
	}
	if !l.set.Stamps && l.lied == nil {
		return nil
	}
	from, to, err := l.clock.ran(a, sent, read)
	if l.lied != nil {
		l.lied(err)
		return nil
	}
	if err != nil {
		l.program.fail(err)
		return l.program.err()
	}
	l.seen.Ran(from, to)
	if a.OK != nil {
		a.OK.ran = from
	}
	return nil
}

// cancel cancels a request, if the adapter can: then the answer follows. Otherwise the error is that of
// ctx, and the outcome is unknown.
func (l *locker) cancel(ctx context.Context, id int64) error {
	if !l.hello.has(Cancel) {
		return ctx.Err()
	}
	return l.program.write(request{Cancel: id})
}

// leave ends the owner's turn when the answer comes after all.
func (l *locker) leave(answered <-chan answer) {
	go func() {
		select {
		case a := <-answered:
			if a.OK != nil {
				l.endRenewals(a.OK.Hold, false) // nobody has that hold
			}
		case <-l.program.done:
		}
		<-l.turn
	}()
}

// result returns the result of a request by its answer.
func result(a answer) (*grant, error) {
	if a.OK != nil {
		return a.OK, nil
	}
	said := a.Text
	if a.Class != "" {
		said = a.Class + ": " + said
	}
	switch a.Error {
	case errorRefused:
		return nil, fmt.Errorf("%w: %s", lockbench.ErrNotAcquired, said)
	case errorNotHeld:
		return nil, fmt.Errorf("%w: %s", lockbench.ErrNotHeld, said)
	case errorNoEffect:
		return nil, fmt.Errorf("%w: %s", lockbench.ErrNoEffect, said)
	}
	return nil, fmt.Errorf("%s: %s", a.Error, said)
}

// Acquire implements [lockbench.Locker]. The driver waits, so that the start of each attempt is known, unless
// the library is to wait.
func (l *locker) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	held := &lease{locker: l, key: key}
	ask := request{Op: opAcquire, Key: l.env.Prefix + key, TTLMS: millis(opt.TTL)}
	if l.set.Waits && opt.Wait > 0 {
		ask.WaitMS = millis(opt.Wait)
		ask.renewals = l.renewals(key, time.Now(), opt.TTL)
		got, err := l.ask(ctx, ask)
		if err == nil {
			err = held.begin(time.Time{}, opt.TTL, got) // nobody knows when the attempt began
		}
		if err != nil {
			return nil, fmt.Errorf("acquire %q: %w", key, err)
		}
		return held, nil
	}
	err := design.Poll(ctx, opt.Wait, design.Every(tryInterval), func() (bool, error) {
		from := l.seen.Attempt(key)
		ask.renewals = l.renewals(key, from, opt.TTL)
		got, err := l.ask(ctx, ask)
		if errors.Is(err, lockbench.ErrNotAcquired) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, held.begin(from, opt.TTL, got)
	})
	if err != nil {
		return nil, fmt.Errorf("acquire %q: %w", key, err)
	}
	return held, nil
}

// A lease is a grant.
type lease struct {
	design.Validity
	*locker
	key   string
	hold  int64
	fence uint64
	lost  <-chan struct{}
	// extended: a renewal that is under way may set a shorter lease than its owner did.
	extended bool
}

// begin sets the fields of the lease by the answer to its acquire.
func (h *lease) begin(from time.Time, ttl time.Duration, got *grant) (err error) {
	h.hold = got.Hold
	h.prolong(from, ttl, got)
	if h.hello.has(Fence) {
		if h.fence, err = strconv.ParseUint(got.Fence, 10, 64); err != nil {
			h.endRenewals(h.hold, false)
			return fmt.Errorf("fence %q: %w; hint: a number of at most 64 bits, as text", got.Fence, err)
		}
	}
	if h.hello.has(Lost) {
		h.lost = h.program.watch(h.hold)
	}
	return nil
}

// prolong sets the lease that was granted from an instant on by the driver's clock, the zero one if it is
// unknown.
func (h *lease) prolong(from time.Time, ttl time.Duration, got *grant) {
	if !from.IsZero() && !got.ran.IsZero() {
		from = got.ran
	}
	h.From, h.Granted = from, h.hello.granted(ttl)
	if got.TTLMS > 0 {
		h.Granted = time.Duration(got.TTLMS) * time.Millisecond
	}
}

// Has implements [lockbench.Limited].
func (h *lease) Has(ability any) bool {
	switch ability.(type) {
	case *lockbench.Validator:
		return !h.hello.Leaseless
	case *lockbench.Extender:
		return h.hello.has(Extend)
	case *lockbench.Fencer:
		return h.hello.has(Fence)
	case *lockbench.Watcher:
		return h.hello.has(Lost)
	case *lockbench.TTLer:
		return h.hello.has(TTL)
	case *lockbench.DelayedReleaser:
		return h.hello.has(ReleaseAfter)
	}
	return true
}

// Release implements [lockbench.Lease].
func (h *lease) Release(ctx context.Context) error { return h.end(ctx, request{Op: opRelease}) }

// ReleaseAfter implements [lockbench.DelayedReleaser].
func (h *lease) ReleaseAfter(ctx context.Context, d time.Duration) error {
	return h.end(ctx, request{Op: opReleaseAfter, AfterMS: millis(d)})
}

func (h *lease) end(ctx context.Context, r request) error {
	r.Hold, r.Key = h.hold, h.env.Prefix+h.key
	_, err := h.ask(ctx, r)
	if err == nil && h.lost != nil {
		h.program.unwatch(h.hold)
	}
	if !errors.Is(err, lockbench.ErrNoEffect) {
		h.endRenewals(h.hold, err == nil && !h.extended) // freed, whatever else is under way
	}
	return err
}

// Extend implements [lockbench.Extender].
func (h *lease) Extend(ctx context.Context, ttl time.Duration) error {
	h.extended = true
	from := time.Now()
	got, err := h.ask(ctx, request{Op: opExtend, Hold: h.hold, Key: h.env.Prefix + h.key, TTLMS: millis(ttl)})
	switch {
	case err == nil:
		h.prolong(from, ttl, got)
	case errors.Is(err, lockbench.ErrNotHeld):
		h.endRenewals(h.hold, false)
	}
	return err
}

// TTL implements [lockbench.TTLer].
func (h *lease) TTL(ctx context.Context) (time.Duration, error) {
	got, err := h.ask(ctx, request{Op: opTTL, Hold: h.hold, Key: h.env.Prefix + h.key})
	if err != nil {
		return 0, err
	}
	return time.Duration(got.TTLMS) * time.Millisecond, nil
}

// Fence implements [lockbench.Fencer].
func (h *lease) Fence() uint64 { return h.fence }

// Lost implements [lockbench.Watcher].
func (h *lease) Lost() <-chan struct{} { return h.lost }
