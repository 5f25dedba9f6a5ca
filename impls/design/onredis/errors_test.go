package onredis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// reply is an error reply of a server.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestNoEffectOnlyWhenNothingRan(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"no error", nil, false},
		{"dial", fmt.Errorf("get: %w", &net.OpError{Op: "dial", Err: io.EOF}), true},
		{"read", &net.OpError{Op: "read", Err: io.EOF}, false},
		{"pool timeout", redis.ErrPoolTimeout, true},
		{"closed client", redis.ErrClosed, true},
		{"loading", reply("LOADING Redis is loading the dataset in memory"), true},
		{"read only", reply("READONLY You can't write against a read only replica."), true},
		{"no permission", reply("NOPERM this user has no permissions to run the 'set' command"), true},
		{"no permission in a script, which may have run in part", reply("ERR The user executing the script can't run this command or subcommand script: 1, on @user_script:2."), false},
		{"out of memory", reply("OOM command not allowed when used memory > 'maxmemory'."), true},
		{"script failed half way", reply("ERR value is not an integer or out of range"), false},
		{"connection cut", io.EOF, false},
		{"deadline", context.DeadlineExceeded, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := onredis.NoEffect(c.err)
			if errors.Is(got, lockbench.ErrNoEffect) != c.want {
				t.Errorf("NoEffect(%v) = %v, want no effect: %t", c.err, got, c.want)
			}
			if !errors.Is(got, c.err) {
				t.Errorf("NoEffect(%v) = %v, lost its cause", c.err, got)
			}
		})
	}
}
