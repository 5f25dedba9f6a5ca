package servers

import (
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestRestartEndsWhenTheLogIsLoaded: a server that takes its time to load its log answers
// meanwhile, but only that it is loading.
func TestRestartEndsWhenTheLogIsLoaded(t *testing.T) {
	s, err := StartPrivate(t.Context())
	if errors.Is(err, ErrNoProgram) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	client := redis.NewClient(s.Options())
	defer client.Close()
	const fill = "for i = 1, 200 do redis.call('SET', 'key' .. i, ARGV[1]) end"
	if err := client.Eval(t.Context(), fill, nil, strings.Repeat("x", 100)).Err(); err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	if err := s.KeepLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A key takes a millisecond to load, and commands are read after each few of them.
	s.own.launch.args = append(s.own.launch.args, "--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
	if err := s.Restart(t.Context(), func() {}); err != nil {
		t.Fatal(err)
	}
	first := redis.NewClient(s.Options())
	defer first.Close()
	if n, err := first.DBSize(t.Context()).Result(); err != nil || n != 200 {
		t.Errorf("the first command after a restart is told of %d keys, error %v; want 200", n, err)
	}
}
