package kit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// An answer is a line to lockbench.
type answer struct {
	ID       int64  `json:"id"`
	OK       any    `json:"ok,omitempty"` // a result
	Error    string `json:"error,omitempty"`
	Class    string `json:"class,omitempty"`
	Text     string `json:"text,omitempty"`
	CallNS   int64  `json:"call_ns,omitempty"`
	ReturnNS int64  `json:"return_ns,omitempty"`
}

// answer answers a request, and then watches the hold that it granted.
func (s *server) answer(ctx context.Context, r request) {
	a := answer{ID: r.ID, CallNS: monotonic() - s.began}
	ok, err := s.perform(ctx, r)
	a.ReturnNS = monotonic() - s.began
	if err == nil {
		a.OK = ok
	} else {
		a.Error, a.Class, a.Text = "unknown", fmt.Sprintf("%T", err), err.Error()
		for kind, name := range names {
			if errors.Is(err, kind) {
				a.Error = name
			}
		}
	}
	s.say(a)
	if number, granted := ok["hold"].(int64); granted {
		s.watch(number)
	}
}

// watch reports the loss of a hold.
func (s *server) watch(number int64) {
	h := s.find(number)
	if w, is := h.Hold.(Watched); is {
		go func() {
			<-w.Lost()
			if !h.over.Load() {
				s.say(map[string]int64{"lost": number})
			}
		}()
	}
}

func (s *server) find(number int64) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holds[number]
}

// perform performs a request. Its result is never nil without an error.
func (s *server) perform(ctx context.Context, r request) (result, error) {
	switch {
	case r.Op == "noop":
		return result{}, nil
	case s.lock == nil:
		return nil, fmt.Errorf("%w: no server", ErrNoEffect)
	case r.Op == "acquire":
		return s.acquire(ctx, r)
	case r.Op == "repeat":
		return s.repeat(r)
	case r.Op != "release" && r.Op != "extend" && r.Op != "ttl":
		return nil, fmt.Errorf("%w: unknown op %s", ErrNoEffect, r.Op)
	}
	h := s.find(r.Hold)
	if h == nil {
		return nil, fmt.Errorf("%w: no such hold", ErrNotHeld)
	}
	if r.Op == "release" {
		return result{}, s.release(ctx, h)
	}
	if e, is := h.Hold.(Extender); is && r.Op == "extend" {
		return result{}, e.Extend(ctx, millis(r.TTLMS))
	}
	if t, is := h.Hold.(Timer); is && r.Op == "ttl" {
		left, err := t.TimeLeft(ctx)
		return result{"ttl_ms": left.Milliseconds()}, err
	}
	return nil, fmt.Errorf("%w: unknown op %s", ErrNoEffect, r.Op)
}

// get asks the lock for a key, once, or by its own wait.
func (s *server) get(ctx context.Context, r request) (Hold, error) {
	if w, is := s.lock.(Waiter); is && r.WaitMS > 0 {
		return w.AcquireWithin(ctx, r.Key, millis(r.TTLMS), millis(r.WaitMS))
	}
	return s.lock.Acquire(ctx, r.Key, millis(r.TTLMS))
}

func (s *server) acquire(ctx context.Context, r request) (result, error) {
	h, err := s.get(ctx, r)
	broken := errors.Is(err, ErrRefused) && s.broken == "grant"
	switch {
	case broken:
		h = nil
	case err != nil:
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.holds[s.last] = &held{Hold: h}
	ok := result{"hold": s.last}
	f, fences := h.(Fenced)
	if fences {
		s.fence = f.Fence()
	}
	if fences || broken && s.fence != 0 {
		ok["fence"] = strconv.FormatInt(s.fence, 10)
	}
	if l, is := h.(Leased); is {
		ok["ttl_ms"] = l.Granted().Milliseconds()
	}
	return ok, nil
}

func (s *server) release(ctx context.Context, h *held) error {
	if s.broken == "release" || h.Hold == nil {
		return nil
	}
	h.over.Store(true)
	err := h.Release(ctx)
	if errors.Is(err, ErrNotHeld) && s.broken == "silent" {
		return nil
	}
	return err
}

func (s *server) repeat(r request) (result, error) {
	began := time.Now()
	for range r.Times {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		h, err := s.lock.Acquire(ctx, r.Key, millis(r.TTLMS))
		if err == nil {
			err = h.Release(ctx)
		}
		cancel()
		if err != nil {
			return nil, err
		}
	}
	return result{"took_ns": time.Since(began).Nanoseconds()}, nil
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
