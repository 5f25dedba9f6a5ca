package design

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// An Environment is everything one process of a design may touch. Designs read
// time, randomness, identity and the way to their service from here only, so that
// clocks can be skewed and runs replayed.
type Environment struct {
	// Services say how to reach what the design locks on, one for each of
	// [Design.ServerCount]; see [Service.Reach]. Package onredis reads those of Redis.
	Services []any
	// Prefix comes before every key the design writes on the service, also before
	// a prefix of the design's own.
	Prefix string
	// Host and PID identify the process, for designs that name owners by them.
	Host string
	PID  int
	// Now is the process's clock, which may be skewed. Sleeps and time-outs run
	// on real (or the bubble's virtual) time.
	Now func() time.Time
	// Random is the process's source of random bytes, safe for concurrent use.
	Random io.Reader
	// Pool is the number of connections the process may open at most; zero
	// leaves the number to the design.
	Pool int
	// Commands counts the requests sent to the service, when not nil.
	Commands *atomic.Int64
	// Interceptor stands between the process and its service; nil where nothing does.
	Interceptor Interceptor
}

// An Interceptor has every request to a service pass through it, so that faults can be
// injected.
type Interceptor interface {
	// Pass has send send one request, or not, and keeps the answer from it, or not.
	// The error is that of send, or another that the connection might have had.
	Pass(ctx context.Context, send func(context.Context) error) error
}

// Pass counts a request and sends it: send is to return nil when the service answered,
// whatever that was, else the error of the connection. Where Pass returns an error, that is
// what the lock is to get, whatever send was. Connections of package onredis do so by
// themselves.
func (e Environment) Pass(ctx context.Context, send func(context.Context) error) error {
	if e.Commands != nil {
		e.Commands.Add(1)
	}
	if e.Interceptor != nil {
		return e.Interceptor.Pass(ctx, send)
	}
	return send(ctx)
}

// Sleep waits for d or until ctx ends, and returns ctx's error in that case.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
