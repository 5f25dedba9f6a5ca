package onredis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
)

// A node is one of a simulated cluster: it reports that one node has all slots, and answers SET
// with a given text; for an empty text it hangs up.
type node struct {
	addr  string
	owner *node // has all slots
	sets  atomic.Int64
	reply func(n int64) string
}

func startNode(t *testing.T, reply func(n int64) string) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{addr: l.Addr().String(), reply: reply}
	n.owner = n
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				n.serve(conn)
			})
		}
	})
	t.Cleanup(func() { l.Close() })
	return n
}

func (n *node) serve(conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		words, err := command(r)
		if err != nil {
			return
		}
		reply := "-ERR unknown command\r\n"
		switch strings.ToLower(words[0]) {
		case "cluster":
			_, port, _ := net.SplitHostPort(n.owner.addr)
			reply = "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:" + port + "\r\n$2\r\nid\r\n"
		case "set", "evalsha":
			reply = n.reply(n.sets.Add(1))
		}
		if _, err := io.WriteString(conn, reply); err != nil || reply == "" {
			return
		}
	}
}

// command reads an array of strings without line breaks.
func command(r *bufio.Reader) (words []string, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	for i := 0; i < 2*n && err == nil; i++ {
		line, err = r.ReadString('\n')
		if i%2 == 1 {
			words = append(words, strings.TrimSpace(line))
		}
	}
	return words, err
}

// environment is one on the cluster that n belongs to.
func (n *node) environment(sent *atomic.Int64) onredis.Environment {
	return onredis.Environment{
		Environment: design.Environment{Commands: sent},
		Redis:       &redis.Options{Addr: n.addr, Protocol: 2, DialerRetries: 1, DisableIdentity: true},
		Nodes:       []string{n.addr},
	}
}

func hangUp(int64) string { return "" }

// TestClusterSendsOnce checks that a command is not sent again if its connection broke after it was
// sent, and that its error is the connection's.
func TestClusterSendsOnce(t *testing.T) {
	n := startNode(t, hangUp)
	var sent atomic.Int64
	env := n.environment(&sent)
	client := env.Connect(2)
	err := client.SetNX(t.Context(), "key", "mine", 0).Err()
	if !errors.Is(err, io.EOF) || errors.Is(onredis.NoEffect(err), lockbench.ErrNoEffect) {
		t.Errorf("error %v, want EOF, which leaves the outcome open", err)
	}
	if got := n.sets.Load(); got != 1 || sent.Load() != 1 {
		t.Errorf("the server saw it %d times, %d counted; want once", got, sent.Load())
	}
	if err := env.Disconnect(client); err != nil {
		t.Error(err)
	}

	// The client library alone does send it again.
	n.sets.Store(0)
	plain := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{n.addr}, Protocol: 2, MaxRetries: -1, DisableIdentity: true})
	defer plain.Close()
	if plain.SetNX(t.Context(), "key", "mine", 0); n.sets.Load() == 1 {
		t.Error("the client library sends once by now; hint: hiding errors from it is not needed any more")
	}
}

// TestClusterFollowsMoved checks that the client follows an answer that names another node.
func TestClusterFollowsMoved(t *testing.T) {
	to := startNode(t, func(int64) string { return ":1\r\n" })
	from := startNode(t, func(int64) string { return "-MOVED 12539 " + to.addr + "\r\n" })
	to.owner = from // every node still reports so
	env := from.environment(nil)
	client := env.Connect(2)
	defer env.Disconnect(client)
	if granted, err := client.SetNX(t.Context(), "key", "mine", 0).Result(); !granted || err != nil {
		t.Errorf("granted %v, error %v; want what the other node says", granted, err)
	}
	if from.sets.Load() != 1 || to.sets.Load() != 1 {
		t.Errorf("%d and %d commands, want one at each node", from.sets.Load(), to.sets.Load())
	}
}

// TestClusterThatIsGone checks that the error of a dial counts as proof that nothing was sent.
func TestClusterThatIsGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	n := &node{addr: l.Addr().String()}
	env := n.environment(nil)
	client := env.Connect(1)
	defer env.Disconnect(client)
	if err := onredis.NoEffect(client.Get(t.Context(), "key").Err()); !errors.Is(err, lockbench.ErrNoEffect) {
		t.Errorf("error %v, want that it had no effect", err)
	}
	if _, err := client.TxPipelined(t.Context(), func(p redis.Pipeliner) error { return p.Get(t.Context(), "key").Err() }); err == nil || !strings.Contains(err.Error(), "not possible on a Redis Cluster") {
		t.Errorf("error %v, want that there are no transactions", err)
	}
}

// TestClusterKeysOfALockAreTogether checks that a design locks {key} on a cluster, and that
// observers receive key.
func TestClusterKeysOfALockAreTogether(t *testing.T) {
	n := startNode(t, hangUp)
	var locked string
	open := onredis.Sharing(func(env onredis.Environment, _ *redis.Client, o design.Observer) lockbench.Locker {
		return lockerFunc(func(key string) error {
			locked = key
			o.Attempt(key)
			o.Renewing(key)
			return nil
		})
	})
	process, err := open(n.environment(nil).General())
	if err != nil {
		t.Fatal(err)
	}
	defer process.Close()
	seen := &keysSeen{Observer: design.Blind}
	if _, err := process.Locker(seen).Acquire(t.Context(), "key", lockbench.Options{}); err != nil {
		t.Fatal(err)
	}
	if locked != "{key}" || fmt.Sprint(seen.keys) != "[key key]" {
		t.Errorf("locked %q, observed %q; want {key} and key", locked, seen.keys)
	}
}

type lockerFunc func(key string) error

func (f lockerFunc) Acquire(_ context.Context, key string, _ lockbench.Options) (lockbench.Lease, error) {
	return nil, f(key)
}

type keysSeen struct {
	design.Observer
	keys []string
}

func (s *keysSeen) Attempt(key string) time.Time {
	s.keys = append(s.keys, key)
	return s.Observer.Attempt(key)
}

func (s *keysSeen) Renewing(key string) func(time.Duration, error) {
	s.keys = append(s.keys, key)
	return s.Observer.Renewing(key)
}
