package load

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
	"github.com/lockbench/lockbench/workloads"
)

func TestSpent(t *testing.T) {
	t.Parallel()
	at := func(id string, cpu time.Duration) design.Usage { return design.Usage{RunID: id, CPU: cpu} }
	for _, c := range []struct {
		name          string
		before, after []design.Usage
		want          int64 // below zero: not known
	}{
		{"one server", []design.Usage{at("a", 2)}, []design.Usage{at("a", 9)}, 7},
		{"two servers", []design.Usage{at("a", 2), at("b", 3)}, []design.Usage{at("a", 9), at("b", 5)}, 9},
		{"nothing done", []design.Usage{at("a", 2)}, []design.Usage{at("a", 2)}, 0},
		{"restarted", []design.Usage{at("a", 2)}, []design.Usage{at("b", 9)}, -1},
		{"one of them restarted", []design.Usage{at("a", 2), at("b", 3)}, []design.Usage{at("a", 9), at("c", 5)}, -1},
		{"it did not tell at the start", nil, []design.Usage{at("a", 9)}, -1},
		{"it did not tell at the end", []design.Usage{at("a", 2)}, nil, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := processorTime(c.before, c.after)
			if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
				t.Errorf("spent %v, want %d (below zero: not known)", got, c.want)
			}
		})
	}
}

// TestCostsAreInTheTrailer: a private server reports its work for a run, the embedded one
// does not, and both connections count.
func TestCostsAreInTheTrailer(t *testing.T) {
	for _, warmup := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run("private, warm-up "+warmup.String(), func(t *testing.T) {
			t.Parallel()
			server, over := servertest.Start(t), make(chan struct{})
			await := usageAsked(t, server)
			go func() {
				defer close(over)
				await()
			}()
			s := runForCosts(t, Config{Services: backend.Group{server}, Broken: over, Options: options(func(o *workloads.Options) {
				o.Duration, o.Warmup = time.Hour, warmup
			})})
			if s.ServerCPUNS == nil || *s.ServerCPUNS <= 0 {
				t.Errorf("processor time of the server: %v, want some", s.ServerCPUNS)
			}
		})
	}
	t.Run("embedded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if s := runForCosts(t, Config{Services: backend.Group{embedded(t)}, Options: options(nil)}); s.ServerCPUNS != nil {
				t.Errorf("processor time of the embedded server: %d ns, want unknown", *s.ServerCPUNS)
			}
		})
	})
}

func runForCosts(t *testing.T, c Config) Summary {
	t.Helper()
	var record bytes.Buffer
	c.Design, c.Workload, c.History = tokenDesign(), workloads.Must("mutex"), &record
	s, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	_, _, end := judge(t, record.Bytes())
	// SET key token NX PX ttl and EVALSHA sha 1 key token have a hundred bytes together.
	if tr := end.Trailer.Traffic; s.Grants == 0 || tr == nil || tr.Sent < 100*s.Grants || tr.Received < 5*s.Grants || tr.Received > tr.Sent {
		t.Errorf("traffic %+v for %d grants, want 100 bytes a grant sent at least, and some received", tr, s.Grants)
	}
	return s
}

// usageAsked returns a function that waits until another client has asked the server for
// its usage, from now on, and the server has done some work since.
func usageAsked(t *testing.T, server *servers.Server) func() {
	client := redis.NewClient(server.Options())
	t.Cleanup(func() { _ = client.Close() })
	calls := func(command string) (n int) {
		text, err := client.Info(t.Context(), "commandstats").Result()
		if err != nil {
			t.Error(err)
		}
		_, text, _ = strings.Cut(text, "cmdstat_"+command+":calls=")
		_, _ = fmt.Sscan(strings.SplitN(text, ",", 2)[0], &n)
		return n
	}
	before := calls("info")
	return func() {
		for ours := 1; calls("info")-ours < before+2 && t.Context().Err() == nil; ours++ {
			time.Sleep(time.Millisecond)
		}
		for begun := calls("set"); calls("set") < begun+20 && t.Context().Err() == nil; {
			time.Sleep(time.Millisecond)
		}
	}
}
