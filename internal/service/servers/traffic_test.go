package servers

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestTrafficIsWhatPasses counts a command of known size, on each kind of
// connection.
func TestTrafficIsWhatPasses(t *testing.T) {
	const sent, received = len("*1\r\n$4\r\nping\r\n"), len("+PONG\r\n")
	embedded, err := StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close() })
	kinds := map[string]*redis.Options{"pipe": embedded.Options()}
	if private, err := StartPrivate(t.Context()); err == nil {
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
			var traffic Traffic
			traffic.Meter(opt)
			client := redis.NewClient(opt)
			defer client.Close()
			if err := client.Ping(t.Context()).Err(); err != nil { // includes a HELLO
				t.Fatal(err)
			}
			s, r := traffic.Sent.Load(), traffic.Received.Load()
			for range 10 {
				if err := client.Ping(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
			}
			s, r = traffic.Sent.Load()-s, traffic.Received.Load()-r
			if s != int64(10*sent) || r != int64(10*received) {
				t.Errorf("ten pings are %d bytes sent and %d received, want %d and %d", s, r, 10*sent, 10*received)
			}
		})
	}
}

func TestUsageIsOfOurServersOnly(t *testing.T) {
	embedded, err := StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = embedded.Close() })
	if _, err := embedded.Usage(t.Context()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("usage of the embedded server: %v, want that nobody knows", err)
	}
	private, err := StartPrivate(t.Context())
	if errors.Is(err, ErrNoProgram) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = private.Close() })
	before, err := private.Usage(t.Context())
	if err != nil || before.CPU <= 0 || before.RunID == "" {
		t.Fatalf("usage %+v, error %v; want some", before, err)
	}
	client := redis.NewClient(private.Options())
	defer client.Close()
	for after := before; after.CPU <= before.CPU; {
		if err := client.Eval(t.Context(), "for i = 1, 1000 do redis.sha1hex('') end", nil).Err(); err != nil && !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
		if after, err = private.Usage(t.Context()); err != nil || after.RunID != before.RunID || after.CPU < before.CPU {
			t.Fatalf("usage %+v after %+v, error %v; want more of the same server", after, before, err)
		}
	}
}
