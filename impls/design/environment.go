package design

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// An Environment is everything that one process of a design may use. Designs take
// time, randomness, identity and connections from it only, so that clocks can be
// skewed and runs replayed.
type Environment struct {
	// Services are the means to connect to the services; there are [Design.ServerCount] of them,
	// see [Service.Reach]. Package onredis reads the means for Redis.
	Services []any
	// Prefix begins every key that the design writes on the service, before any prefix of the
	// design's own.
	Prefix string
	// Host and PID identify the process, for designs that name owners by them.
	Host string
	PID  int
	// Now is the process's clock, which may be skewed. Sleeps and time-outs run
	// on real (or the bubble's virtual) time.
	Now func() time.Time
	// Random is the process's source of random bytes, safe for concurrent use.
	Random io.Reader
	// Pool is the largest number of connections that the process may open; zero leaves the number
	// to the design.
	Pool int
	// Commands counts the requests sent to the service, unless it is nil.
	Commands *atomic.Int64
	// Interceptor sees every request of the process; nil for none.
	Interceptor Interceptor
}

// An Interceptor sees every request to a service, so that it can inject faults.
type Interceptor interface {
	// Pass calls send, which sends one request, or drops the request; it may also drop the answer.
	// It returns the error of send, or another error that a connection may have.
	Pass(ctx context.Context, send func(context.Context) error) error
}

// A Gate is an [Interceptor] that also sees requests of which only the process is known, because a
// program of its own sends them.
type Gate interface {
	Interceptor
	// Request is called before a request of the process is sent. name is that of the command, such as
	// SET. If send is false the request is not sent, and its connection breaks. If lost is not nil, its
	// reply does not arrive: lost is called when it has come, and then the connection breaks.
	Request(name string) (send bool, lost func())
}

// Pass counts a request and sends it, through the Interceptor if there is one. send returns nil if
// the service answered, whatever the answer, and else the error of the connection. If Pass returns
// an error, the lock must treat it as the result, whatever send returned. Connections of package
// onredis call Pass themselves.
func (e Environment) Pass(ctx context.Context, send func(context.Context) error) error {
	if e.Commands != nil {
		e.Commands.Add(1)
	}
	if e.Interceptor != nil {
		return e.Interceptor.Pass(ctx, send)
	}
	return send(ctx)
}

// Sleep waits for d. It returns the error of ctx if ctx ends first, and nil otherwise.
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
