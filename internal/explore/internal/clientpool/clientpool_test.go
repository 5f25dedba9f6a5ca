package clientpool_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/explore/internal/clientpool"
)

// TestPoolConnects has a client give its connection up, as it does when it no
// longer waits for a reply: the process that gets it next finds one, as with a new client.
func TestPoolConnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := clientpool.Pool{Broken: func() bool { return false }}
		defer pool.CloseAll()
		opt := clientpool.InMemory(dialMute)
		opt.ContextTimeoutEnabled, opt.MaxRetries = true, -1
		connections := func(client *redis.Client) uint32 { return client.PoolStats().IdleConns }

		first := pool.Open(opt)
		if got := connections(first); got != 1 {
			t.Errorf("a new client has %d connections, want 1", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := first.Get(ctx, "x").Err(); err == nil || connections(first) != 0 {
			t.Fatalf("got error %v and %d connections, want an error that costs the connection", err, connections(first))
		}
		if err := pool.Close(first); err != nil {
			t.Fatal(err)
		}
		again := pool.Open(opt)
		if got := connections(again); again != first || got != 1 {
			t.Errorf("opened again: the same client %t, with %d connections, want it with 1", again == first, got)
		}
	})
}

// dialMute reaches a server that knows PING alone, and does not answer GET.
func dialMute() (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		request := make([]byte, 1<<10)
		for {
			n, err := server.Read(request)
			if err != nil {
				return
			}
			switch sent := string(bytes.ToLower(request[:n])); {
			case strings.Contains(sent, "ping"):
				_, _ = io.WriteString(server, "+PONG\r\n") // the next Read returns its error
			case !strings.Contains(sent, "get"):
				_, _ = io.WriteString(server, "-ERR unknown command\r\n")
			}
		}
	}()
	return client, nil
}
