package design

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Clients are where an [Environment] has its clients from, for drivers that open
// many processes one after the other and reuse their connections. They are used by
// one goroutine at a time.
type Clients interface {
	// Open returns a client with these options, that nobody else uses.
	Open(opt *redis.Options) *redis.Client
	// Close takes back a client that Open returned. What it still waits for is to
	// end with an error, as if it were closed.
	Close(client *redis.Client) error
}

// An Interceptor is what [Clients] may be, too: every command that a client library of
// another kind sends passes through it.
type Interceptor interface {
	// Pass has send send one command, or not, and keeps the answer from it, or not.
	// The error is that of send, or another that the connection might have had.
	Pass(ctx context.Context, send func(context.Context) error) error
}

// Pass sends a command by another client library than go-redis: send is to return nil
// when the server answered, whatever that was, else the error of the connection. Where
// Pass returns an error, that is what the lock is to get, whatever send was.
func (e Environment) Pass(ctx context.Context, send func(context.Context) error) error {
	if interceptor, ok := e.Clients.(Interceptor); ok {
		return interceptor.Pass(ctx, send)
	}
	return send(ctx)
}

// Disconnect closes a client that Connect returned: the way for a process to close
// its connections, whoever they come from.
func (e Environment) Disconnect(client *redis.Client) error {
	if e.Clients != nil {
		return e.Clients.Close(client)
	}
	return client.Close()
}
