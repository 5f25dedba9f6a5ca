package servers

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestLocal(t *testing.T) {
	for _, tt := range []struct {
		kind, network, addr string
		want                bool
	}{
		{External, "tcp", "localhost:6379", true},
		{External, "tcp", "127.0.0.1:6379", true},
		{External, "tcp", "[::1]:6379", true},
		{External, "unix", "/run/redis.sock", true},
		{Private, "unix", "/tmp/x/socket", true},
		{External, "tcp", "redis.example.org:6379", false},
		{External, "tcp", "192.0.2.1:6379", false},
		{Embedded, "tcp", "127.0.0.1:0", false},
	} {
		t.Run(tt.kind+" "+tt.addr, func(t *testing.T) {
			if got := newServer(tt.kind, redis.Options{Network: tt.network, Addr: tt.addr}).Local(); got != tt.want {
				t.Errorf("local: %v, want %v", got, tt.want)
			}
		})
	}
}
