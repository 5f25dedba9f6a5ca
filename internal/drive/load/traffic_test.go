package load

import (
	"context"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// TestTrafficIsWhatPasses counts a command of known size, on each kind of
// connection.
func TestTrafficIsWhatPasses(t *testing.T) {
	const sent, received = len("*1\r\n$4\r\nping\r\n"), len("+PONG\r\n")
	server, err := servers.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	kinds := map[string]*redis.Options{"pipe": server.Options()}
	if private, err := servers.StartPrivate(t.Context()); err == nil {
		t.Cleanup(func() { _ = private.Close() })
		kinds["limited"] = private.Options()
		plain := private.Options()
		plain.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		kinds["socket"] = plain
	}
	for name, opt := range kinds {
		t.Run(name, func(t *testing.T) {
			traffic := traffic{open: &gauge{}}
			services := []any{onredis.Server{Options: opt}}
			traffic.meter(services)
			client := redis.NewClient(services[0].(onredis.Server).Options)
			defer func() { _ = client.Close() }()
			if err := client.Ping(t.Context()).Err(); err != nil { // includes a HELLO
				t.Fatal(err)
			}
			s, r := traffic.sent.Load(), traffic.received.Load()
			for range 10 {
				if err := client.Ping(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
			}
			s, r = traffic.sent.Load()-s, traffic.received.Load()-r
			if s != int64(10*sent) || r != int64(10*received) {
				t.Errorf("ten pings are %d bytes sent and %d received, want %d and %d", s, r, 10*sent, 10*received)
			}
			now := traffic.open.now.Load()
			if err := client.Close(); err != nil {
				t.Fatal(err)
			}
			if after, highest := traffic.open.now.Load(), traffic.open.highest.Load(); now != 1 || after != 0 || highest != 1 {
				t.Errorf("%d open connections, %d after the client was closed, %d at most; want 1, none and 1", now, after, highest)
			}
		})
	}
}
