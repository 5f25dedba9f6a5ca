package servers_test

import (
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestAHangUpCostsNoCommand lets the server hang up on an idle client: the
// client's next command uses another connection.
func TestAHangUpCostsNoCommand(t *testing.T) {
	s := servertest.Start(t)
	opt := s.Options()
	opt.PoolSize = 1
	resting, other := redis.NewClient(opt), redis.NewClient(s.Options())
	defer resting.Close()
	defer other.Close()
	for range 3 {
		id, err := resting.ClientID(t.Context()).Result()
		if err != nil {
			t.Fatalf("after a hang-up: %v", err)
		}
		if n, err := other.ClientKillByFilter(t.Context(), "ID", strconv.FormatInt(id, 10)).Result(); n != 1 || err != nil {
			t.Fatalf("%d connections were ended, error %v", n, err)
		}
	}
}
