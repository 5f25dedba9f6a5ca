package servers

import (
	"context"
	"net"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/buildinfo"
)

const miniredisModule = "github.com/alicebob/miniredis/v2"

// StartEmbedded starts miniredis in this process, reached over in-memory pipes:
// no port, no file. Its clock runs, so that leases end in real time. It behaves
// like Redis for the commands of locks, but its speed tells nothing about a
// design.
func StartEmbedded() (*Server, error) {
	e := &embedded{redis: miniredis.NewMiniRedis()}
	e.redis.ClockTTL(true) // without it no lease ever ends and every lock looks safe
	s := newServer(design.Embedded, tune(redis.Options{
		Network: "tcp",
		Addr:    "127.0.0.1:0", // never dialled
		Dialer:  e.dial,
	}))
	s.address = "miniredis in this process"
	s.version = "miniredis " + buildinfo.Module(miniredisModule)
	s.stop = e.close
	return s, nil
}

// embedded prevents a late dial from starting a closed miniredis again.
type embedded struct {
	mu     sync.Mutex
	redis  *miniredis.Miniredis
	closed bool
}

func (e *embedded) dial(context.Context, string, string) (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	}
	return e.redis.Dial()
}

// close ends the server and waits for its goroutines.
func (e *embedded) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.redis.Close()
	return nil
}
