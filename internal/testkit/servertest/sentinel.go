package servertest

import (
	"context"
	"fmt"
	"testing"
)

// Master is the name of the primary for the sentinels of [StartWatched].
const Master = "mymaster"

// A Watched is a primary with a replica, watched by sentinels.
type Watched struct {
	Primary, Replica *Node
	Sentinels        []*Node
}

// StartWatched starts a primary, its replica and two sentinels, with a quorum of one, which take
// the primary for down after 300 ms. It returns when all know of each other.
func StartWatched(t testing.TB) *Watched {
	t.Helper()
	w := &Watched{Primary: StartNode(t, "repl-diskless-sync-delay 0")}
	w.Replica = StartNode(t, "repl-diskless-sync-delay 0", fmt.Sprintf("replicaof %s %s", w.Primary.Host, w.Primary.Port))
	for range 2 {
		w.Sentinels = append(w.Sentinels, StartSentinel(t, w.Primary))
	}
	for _, s := range w.Sentinels {
		client := s.Client(t)
		Await(t, func(ctx context.Context) (string, error) {
			master, err := client.Do(ctx, "SENTINEL", "MASTER", Master).Slice()
			fields := map[any]any{}
			for i := 0; i+1 < len(master); i += 2 {
				fields[master[i]] = master[i+1]
			}
			if fields["num-slaves"] == "1" && fields["num-other-sentinels"] == "1" && fields["flags"] == "master" {
				return "", err
			}
			return fmt.Sprintf("at %s: a replica and another sentinel: %v", s.Addr, fields), err
		})
	}
	return w
}

// StartSentinel starts a sentinel that watches primary as [Master], with more lines of a configuration.
func StartSentinel(t testing.TB, primary *Node, config ...string) *Node {
	t.Helper()
	return startNode(t, []string{"--sentinel"}, append([]string{
		fmt.Sprintf("sentinel monitor %s %s %s 1", Master, primary.Host, primary.Port),
		fmt.Sprintf("sentinel down-after-milliseconds %s 300", Master),
		fmt.Sprintf("sentinel failover-timeout %s 2000", Master),
	}, config...)...)
}

// URL returns the address of the watched primary, in the form of --server.
func (w *Watched) URL() string {
	return fmt.Sprintf("redis://%s?master_name=%s&addr=%s", w.Sentinels[0].Addr, Master, w.Sentinels[1].Addr)
}
