package servers

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

func TestLocal(t *testing.T) {
	for _, tt := range []struct {
		kind, network, addr string
		want                bool
	}{
		{design.External, "tcp", "localhost:6379", true},
		{design.External, "tcp", "127.0.0.1:6379", true},
		{design.External, "tcp", "[::1]:6379", true},
		{design.External, "unix", "/run/redis.sock", true},
		{design.Private, "unix", "/tmp/x/socket", true},
		{design.External, "tcp", "redis.example.org:6379", false},
		{design.External, "tcp", "192.0.2.1:6379", false},
		{design.Embedded, "tcp", "127.0.0.1:0", false},
	} {
		t.Run(tt.kind+" "+tt.addr, func(t *testing.T) {
			if got := newServer(tt.kind, redis.Options{Network: tt.network, Addr: tt.addr}).Local(); got != tt.want {
				t.Errorf("local: %v, want %v", got, tt.want)
			}
		})
	}
}
