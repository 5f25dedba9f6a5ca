package servers_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// connect is servers.Connect, until t ends.
func connect(t *testing.T, url string) *servers.Server {
	t.Helper()
	s, err := servers.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// singleOf is a client with one connection to s, until t ends.
func singleOf(t *testing.T, s *servers.Server) *redis.Client {
	t.Helper()
	opt := s.Options()
	opt.PoolSize = 1
	client := redis.NewClient(opt)
	t.Cleanup(func() { client.Close() })
	return client
}

// TestSentinelFailover: when the primary dies, clients go on at the one that sentinels name then, and a look
// shows that it was the replica of the first.
func TestSentinelFailover(t *testing.T) {
	w := servertest.StartWatched(t)
	s := connect(t, w.URL())
	if got, want := s.Address(), "redis://"+w.Sentinels[0].Addr+"?master_name="+servertest.Master+"&addr="+w.Sentinels[1].Addr; got != want {
		t.Errorf("address %q, want %q", got, want)
	}
	if !s.Local() {
		t.Error("it is not local")
	}
	client := singleOf(t, s)
	if err := client.Set(t.Context(), "before", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got := w.Primary.Do(t, "EXISTS", "before"); got != int64(1) {
		t.Errorf("EXISTS at the primary is %v", got)
	}
	look, closing := s.Watch("lockbench:00000000:")
	defer closing()
	before, err := look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Sentinels[0].Kill()
	w.Primary.Kill()
	w.Sentinels = w.Sentinels[1:]
	// One of two sentinels is no majority: the test does its part of the failover.
	w.Replica.Do(t, "REPLICAOF", "NO", "ONE")
	w.Sentinels[0].Do(t, "SENTINEL", "REMOVE", servertest.Master)
	servertest.Await(t, func(ctx context.Context) (string, error) { // the first answer may come on a connection to the dead server
		err := client.Set(ctx, "between", "x", 0).Err()
		if err == nil || !strings.Contains(err.Error(), `knows no such master: "mymaster"`) {
			return fmt.Sprintf("error %v, want one of the sentinel", err), nil
		}
		return "", nil
	})
	w.Sentinels[0].Do(t, "SENTINEL", "MONITOR", servertest.Master, w.Replica.Host, w.Replica.Port, "1")
	servertest.Await(t, func(ctx context.Context) (string, error) { return "", client.Set(ctx, "after", "x", 0).Err() })
	if got := w.Replica.Do(t, "EXISTS", "after"); got != int64(1) {
		t.Errorf("EXISTS at the new primary is %v", got)
	}
	servertest.Await(t, func(ctx context.Context) (string, error) {
		now, err := look(ctx)
		if err == nil && (now.Run == before.Run || now.Ancestor != before.Data) {
			t.Errorf("look %+v, want another run than %+v and its data as ancestor", now, before)
		}
		return "", err
	})
}

// TestSentinelSplit: a primary that sentinels have replaced goes on to serve the connections that it has, until it
// becomes a replica. Looks show both.
func TestSentinelSplit(t *testing.T) {
	w := servertest.StartWatched(t)
	look, closing := connect(t, w.URL()).Watch("lockbench:00000000:")
	defer closing()
	lookAgain := func(wantRival bool) design.Glance {
		t.Helper()
		g, err := look(t.Context())
		if err != nil || g.Rival != wantRival {
			t.Errorf("look %+v, %v; want a rival: %t", g, err, wantRival)
		}
		return g
	}
	lookAgain(false)
	before := lookAgain(false)
	w.Replica.Do(t, "REPLICAOF", "NO", "ONE")
	for _, s := range w.Sentinels {
		s.Do(t, "SENTINEL", "REMOVE", servertest.Master)
		s.Do(t, "SENTINEL", "MONITOR", servertest.Master, w.Replica.Host, w.Replica.Port, "1")
	}
	if now := lookAgain(true); now.Run == before.Run || now.Ancestor != before.Data {
		t.Errorf("look %+v, want another run than %+v and its data as ancestor", now, before)
	}
	lookAgain(true)
	w.Primary.Do(t, "REPLICAOF", w.Replica.Host, w.Replica.Port)
	lookAgain(false)
	lookAgain(false)
}

// naming is a sentinel that names the primary that it is told to.
func naming(t *testing.T, primary *atomic.Pointer[servertest.Node]) string {
	return fake(t, func(conn net.Conn) {
		replies(conn, func(words []string) string {
			if strings.ToLower(words[0]) != "sentinel" {
				return basic(words)
			}
			n := primary.Load()
			return "*2\r\n+" + n.Host + "\r\n+" + n.Port + "\r\n"
		})
	})
}

// TestSentinelDemotedPrimary: a connection to a server that has become a replica is not used again.
func TestSentinelDemotedPrimary(t *testing.T) {
	var primary atomic.Pointer[servertest.Node]
	a, b := servertest.StartNode(t, "requirepass "+secret), servertest.StartNode(t, "requirepass "+secret)
	primary.Store(a)
	s := connect(t, "redis://:"+secret+"@"+naming(t, &primary)+"/3?master_name=m")
	client := singleOf(t, s)
	set := func() error { return client.Set(t.Context(), "key", "x", 0).Err() }
	if err := set(); err != nil {
		t.Fatal(err)
	}
	admin := redis.NewClient(&redis.Options{Addr: a.Addr, Password: secret})
	defer admin.Close()
	if err := admin.Do(t.Context(), "REPLICAOF", b.Host, b.Port).Err(); err != nil {
		t.Fatal(err)
	}
	if err := set(); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
		t.Errorf("error %v of a demoted primary, want READONLY", err)
	}
	if err := set(); err == nil || !strings.Contains(err.Error(), `it says that it is a "slave"`) {
		t.Errorf("error %v while sentinels name a replica, want one that says so", err)
	}
	primary.Store(b)
	servertest.Await(t, func(context.Context) (string, error) { return "", set() })
}

func TestConnectRefusesSentinels(t *testing.T) {
	primary := servertest.StartNode(t)
	sentinel := servertest.StartSentinel(t, primary)
	guarded := servertest.StartSentinel(t, primary, "requirepass "+secret)
	free := net.JoinHostPort("127.0.0.1", servertest.FreePort(t))
	const name = "?master_name=mymaster"
	for _, c := range []struct {
		name, url string
		want      []string
	}{
		{"none there", "redis://:" + secret + "@" + free + name + "&addr=127.0.0.1:1", []string{"no Sentinel answers", free, "127.0.0.1:1", "connection refused"}},
		{"no such master", "redis://" + sentinel.Addr + "?master_name=other", []string{"there is no such primary", `"other"`, `but "mymaster"`}},
		{"a sentinel", "redis://" + sentinel.Addr, []string{"it is a Sentinel, which watches \"mymaster\"", "?master_name="}},
		{"no sentinel", "redis://" + primary.Addr + name, []string{"is no Sentinel", primary.Addr, "port 26379"}},
		{"wrong password", "redis://" + guarded.Addr + name + "&sentinel_password=wrong" + secret, []string{guarded.Addr, "password of the Sentinel", "sentinel_password="}},
		{"no password", "redis://" + guarded.Addr + name, []string{guarded.Addr, "password of the Sentinel", "NOAUTH"}},
		{"no address", "redis://" + sentinel.Addr + name + "&addr=nowhere", []string{`"nowhere"`, "host:port"}},
		{"socket", "unix:///tmp/socket" + name, []string{"master_name and addr are for redis://"}},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefusal(t, c.url, c.want...) })
	}
	for _, url := range []string{
		"redis://" + guarded.Addr + name + "&sentinel_password=" + secret,
		"redis://" + free + name + "&addr=" + sentinel.Addr,
		"redis://:" + secret + "@" + guarded.Addr + name + "&username=default&password=", // as ParseFailoverURL has it
	} {
		connect(t, url)
	}
	primary.Kill()
	checkRefusal(t, "redis://"+sentinel.Addr+name, "there is no primary now", primary.Addr, "by "+sentinel.Addr, "announce-ip")
}
