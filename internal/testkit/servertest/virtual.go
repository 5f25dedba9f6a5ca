package servertest

import (
	"context"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

const (
	// quickest is the least time that a command takes in a virtual server, and spread
	// the largest random addition to it.
	quickest = 20 * time.Microsecond
	spread   = 100 * time.Microsecond
)

// Virtual starts a Redis that lives in the testing/synctest bubble of its caller, and
// returns the options of a client. It executes one command at a time, each after 20 to
// 120 us of virtual time; seed decides the order of waiting commands. So owners compete
// as on a network, independent of the machine's speed and load.
//
// A client's pool must not run out of connections: the timers of clients that wait for
// one are shared by all bubbles, which ends the program.
//
// The server ends with t, which must be the bubble's own.
func Virtual(t testing.TB, seed uint64) *redis.Options {
	t.Helper()
	server, err := stepserver.New()
	if err != nil {
		t.Fatalf("start a virtual server: %v", err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		serve(server, rand.New(rand.NewPCG(seed, 0)), stop)
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		server.Close()
		time.Sleep(time.Minute) // go-redis dials again in the background, and gives up
	})
	return &redis.Options{
		Addr:            "127.0.0.1:6379", // never dialled
		Protocol:        2,
		MaxRetries:      -1,
		DisableIdentity: true,
		DialerRetries:   1,
		Dialer:          func(context.Context, string, string) (net.Conn, error) { return server.Dial(0) },
	}
}

// serve executes commands that arrive at the server until stop is closed.
func serve(server *stepserver.Server, random *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-server.Arrived():
		}
		for len(server.Pending()) > 0 {
			time.Sleep(quickest + time.Duration(random.Int64N(int64(spread))))
			if waiting := server.Pending(); len(waiting) > 0 {
				server.Run(waiting[random.IntN(len(waiting))])
			}
		}
	}
}
