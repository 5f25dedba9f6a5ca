package servertest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/lib/subprocess"
	"github.com/lockbench/lockbench/internal/service/servers"
)

const (
	startTimeout = 30 * time.Second
	pollInterval = 10 * time.Millisecond
)

// A Node is a redis-server on a loopback port, with settings of a test: one of several that
// know each other, or a Sentinel.
type Node struct {
	Addr, Host, Port string
	Folder           string

	process *subprocess.Process
	gone    chan struct{}
	kill    sync.Once
}

// StartNode starts redis-server with the lines of a configuration, and kills it when t ends.
// Without the program it skips t, or fails it if [Required] is set.
func StartNode(t testing.TB, config ...string) *Node { return startNode(t, nil, config...) }

func startNode(t testing.TB, args []string, config ...string) *Node {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		Need(t, servers.ErrNoProgram)
	}
	n := &Node{Host: "127.0.0.1", Port: FreePort(t), Folder: t.TempDir(), gone: make(chan struct{})}
	n.Addr = net.JoinHostPort(n.Host, n.Port)
	lines := append([]string{"bind " + n.Host, "port " + n.Port, "dir " + n.Folder, `save ""`, "loglevel warning"}, config...)
	path := filepath.Join(n.Folder, "redis.conf")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, append([]string{path}, args...)...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = n.Folder, &said, &said
	if n.process, err = subprocess.Start(cmd, func(error) { close(n.gone) }); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	t.Cleanup(n.Kill)
	client := n.Client(t)
	n.await(t, &said, func(ctx context.Context) (string, error) {
		if err := client.Ping(ctx).Err(); err != nil && !strings.HasPrefix(err.Error(), "NOAUTH") {
			return "", err
		}
		return "", nil
	})
	return n
}

// Kill kills the process, and returns when it has ended.
func (n *Node) Kill() {
	n.kill.Do(func() {
		_ = n.process.Kill() // the error is that it has ended
		<-n.gone
	})
}

// Client returns a client of the node, which is closed when t ends.
func (n *Node) Client(t testing.TB) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: n.Addr, Protocol: 2, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true, PoolSize: 100})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Do sends a command to the node and returns the reply. It fails t if the command fails.
func (n *Node) Do(t testing.TB, args ...any) any {
	t.Helper()
	reply, err := n.Client(t).Do(t.Context(), args...).Result()
	if err != nil {
		t.Fatalf("%v at %s: %v", args, n.Addr, err)
	}
	return reply
}

// await asks until the node reports nothing missing.
func (n *Node) await(t testing.TB, said fmt.Stringer, missing func(context.Context) (string, error)) {
	t.Helper()
	Await(t, func(ctx context.Context) (string, error) {
		select {
		case <-n.gone:
			t.Fatalf("redis-server at %s ended: %s", n.Addr, said)
		default:
		}
		return missing(ctx)
	})
}

// Await calls missing until it returns nothing, for 30 s at most.
func Await(t testing.TB, missing func(context.Context) (string, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for {
		what, err := missing(ctx)
		if err == nil && what == "" {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("still missing after %v: %s (error %v)", startTimeout, what, err)
		case <-time.After(pollInterval):
		}
	}
}

// FreePort returns a loopback port that was free a moment ago.
func FreePort(t testing.TB) string {
	t.Helper()
	addr, err := servers.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(addr)
	return port
}
