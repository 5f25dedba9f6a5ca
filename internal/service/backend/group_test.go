package backend_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

func TestGroupOfServersThatAreApart(t *testing.T) {
	for _, c := range []struct {
		name, path string
		kind       string
	}{
		{"private", "", design.Private},
		{"embedded", t.TempDir(), design.Embedded},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.path != "" {
				t.Setenv("PATH", c.path)
			} else {
				servertest.Start(t)
			}
			g, err := open(t, nil, 3)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			info := g.Info()
			if len(g) != 3 || info.Count != 3 || info.Kind != c.kind || g.For(1).Info().Count != 0 {
				t.Errorf("got %d servers described as %+v, and one as %+v", len(g), info, g.For(1).Info())
			}
			sweepApart(t, g)
		})
	}
}

// open opens Redis servers.
func open(t *testing.T, urls []string, n int) (backend.Group, error) {
	t.Helper()
	return servers.Redis{}.Open(t.Context(), urls, n)
}

// sweepApart writes a different key to each server, and checks that all are
// removed.
func sweepApart(t *testing.T, g backend.Group) {
	t.Helper()
	var counts []int64
	for i, s := range g {
		client := redis.NewClient(s.(*servers.Server).Options())
		defer client.Close()
		for _, key := range []string{"p:a", "p:b", "p:c"}[:i+1] {
			if err := client.Set(t.Context(), key, "", 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		counts = append(counts, client.DBSize(t.Context()).Val())
	}
	if diff := cmp.Diff(counts, []int64{1, 2, 3}); diff != "" {
		t.Errorf("keys by server (-got +want):\n%s", diff)
	}
	if err := g.Check(t.Context(), []string{"SET"}); err != nil {
		t.Error(err)
	}
	if n, err := g.Sweep(t.Context(), "p:"); n != 6 || err != nil {
		t.Errorf("swept %d keys, error %v, want 6", n, err)
	}
}

func TestGroupRefusesTooFewAndOneTwice(t *testing.T) {
	url := servertest.Start(t).Address()
	for _, c := range []struct {
		name string
		urls []string
		n    int
		want string
	}{
		{"too few", []string{url}, 5, "locks on 5 servers, 1 given; hint: give --server 5 times"},
		{"one twice", []string{url, url}, 2, "one and the same; hint:"},
		{"one that is not there", []string{url, "redis://127.0.0.1:1"}, 2, "nothing listens there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := open(t, c.urls, c.n)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, error %v, want %q", g, err, c.want)
			}
		})
	}
}
