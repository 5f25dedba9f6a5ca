package servers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/backend"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// TestCluster: an operation on a cluster applies to each of its primaries.
func TestCluster(t *testing.T) {
	c := servertest.StartCluster(t, 0)
	for _, url := range []string{c.URL(), "redis://" + c.Nodes[2].Addr} {
		t.Run(url, func(t *testing.T) { testCluster(t, c, url) })
	}
	for _, key := range []string{"", "a", "123456789", "lockbench:01234567:job"} {
		if want := c.Nodes[0].Do(t, "CLUSTER", "KEYSLOT", key); int64(servers.SlotOf(key)) != want {
			t.Errorf("slot %d of %q, want %v", servers.SlotOf(key), key, want)
		}
	}
}

func testCluster(t *testing.T, c *servertest.Cluster, url string) {
	s := connect(t, url)
	if got := s.Address(); got != url {
		t.Errorf("address %q, want %q", got, url)
	}
	if !s.Local() || s.PlainTCP() {
		t.Errorf("local %v, plain TCP %v; want true and false", s.Local(), s.PlainTCP())
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	prefix := servers.NewPrefix()
	store := s.Records(prefix)
	for i := range 60 {
		want := lockbench.Record{Value: int64(i), Version: 1}
		if err := store.Write(t.Context(), fmt.Sprint(i), want); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Read(t.Context(), fmt.Sprint(i)); err != nil || got != want {
			t.Fatalf("record %+v, %v; want %+v", got, err, want)
		}
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	for _, n := range c.Nodes {
		if got := n.Do(t, "DBSIZE").(int64); got == 0 {
			t.Errorf("node %s has no keys", n.Addr)
		}
	}
	found, err := backend.Clean(t.Context(), s, time.Hour)
	if err != nil || len(found) != 1 || found[0].Entries != 60 || found[0].Removed {
		t.Errorf("found %v, %v; want 60 keys of one run, left", found, err)
	}
	if removed, err := s.Sweep(t.Context(), prefix); err != nil || removed != 60 {
		t.Errorf("swept %d, %v; want 60", removed, err)
	}
	if err := s.Check(t.Context(), []string{"SET", "EVALSHA", "EVAL", "PUBLISH", "SUBSCRIBE"}); err != nil {
		t.Error(err)
	}
	if err := s.Check(t.Context(), []string{"WATCH", "MULTI"}); err == nil || !strings.Contains(err.Error(), "runs no WATCH") {
		t.Errorf("error %v, want that there is no WATCH", err)
	}
	if got := s.Parts(); len(got) != len(c.Nodes) {
		t.Errorf("%d parts, want %d", len(got), len(c.Nodes))
	}
	for _, part := range s.Parts() {
		look, closing := part.(design.Watched).Watch(prefix)
		for range 2 {
			if g, err := look(t.Context()); err != nil || !g.Kept || g.Run == "" {
				t.Errorf("a look at %s is %+v, %v", part.Address(), g, err)
			}
		}
		if err := closing(); err != nil {
			t.Error(err)
		}
	}
	if removed, err := s.Sweep(t.Context(), prefix); err != nil || removed != 128*len(c.Nodes) {
		t.Errorf("swept %d, %v; want the 128 keys that the watch of each node keeps", removed, err)
	}
}

// TestClusterPermissions: a permission missing on any node is found.
func TestClusterPermissions(t *testing.T) {
	c := servertest.StartCluster(t, 0)
	for i, n := range c.Nodes {
		rules := []any{"ACL", "SETUSER", "worker", "on", ">" + secret, "~lockbench:*", "&*", "+@all"}
		if i == 2 {
			rules = append(rules, "-evalsha", "-info")
		}
		n.Do(t, rules...)
	}
	s := connect(t, strings.Replace(c.URL(), "//", "//worker:"+secret+"@", 1))
	err := s.Check(t.Context(), []string{"SET", "EVALSHA"})
	if err == nil || !strings.Contains(err.Error(), c.Nodes[2].Addr) || !strings.Contains(err.Error(), "+evalsha") {
		t.Errorf("error %v, want one that names the node and the rule", err)
	}
	if lost := s.Lost(t.Context()); len(lost) != 1 || !strings.Contains(lost[0], "INFO") {
		t.Errorf("lost %q, want INFO", lost)
	}
}

// TestClusterFailover: when a primary dies its replica takes over, and a look at that part shows it.
func TestClusterFailover(t *testing.T) {
	c := servertest.StartCluster(t, 1)
	s := connect(t, c.URL())
	look, closing := s.Parts()[0].(design.Watched).Watch(servers.NewPrefix())
	defer closing()
	before, err := look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Nodes[0].Kill()
	var now design.Glance
	servertest.Await(t, func(ctx context.Context) (_ string, err error) {
		now, err = look(ctx)
		return "", err
	})
	if now.Run == before.Run || now.Ancestor != before.Data || now.Role != "master" {
		t.Errorf("look %+v, want another run than %+v and its data as ancestor", now, before)
	}
	servertest.Await(t, func(ctx context.Context) (string, error) { return "", s.Ping(ctx) })
}

func TestConnectRefusesClusters(t *testing.T) {
	c := servertest.StartCluster(t, 0)
	plain := servertest.StartNode(t)
	free := "127.0.0.1:" + servertest.FreePort(t)
	checkRefusal(t, "redis://"+c.Nodes[0].Addr+"/3", "database 0 alone")
	checkRefusal(t, c.URL()+"&db=3", "database 0 alone")
	checkRefusal(t, "redis://"+plain.Addr+"?addr="+plain.Addr, "is no cluster", "leave addr out")
	checkRefusal(t, "redis://:"+secret+"@"+free+"?addr=127.0.0.1:1", "no node of the cluster answers", free, "127.0.0.1:1")
	connect(t, "redis://"+free+"?addr="+c.Nodes[1].Addr)
	c.Nodes[2].Kill()
	checkRefusal(t, "redis://"+c.Nodes[0].Addr, c.Nodes[2].Addr)
	c.Nodes[0].Do(t, "CLUSTER", "DELSLOTSRANGE", 0, 9)
	checkRefusal(t, "redis://"+c.Nodes[0].Addr, "its slots are not all served", "cluster_state:fail")
}
