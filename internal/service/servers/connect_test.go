package servers_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// secret is the password that no error may repeat.
const secret = "s3cr3t"

// fake listens on a loopback port and hands every connection to serve. It
// returns host:port.
func fake(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer context.AfterFunc(ctx, func() { conn.Close() })()
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		cancel()
		open.Wait()
	})
	return l.Addr().String()
}

// saying answers all input with text.
func saying(text string) func(net.Conn) {
	return func(conn net.Conn) {
		buffer := make([]byte, 4096)
		for {
			if _, err := conn.Read(buffer); err != nil {
				return
			}
			if _, err := conn.Write([]byte(text)); err != nil {
				return
			}
		}
	}
}

// silence reads and never answers.
func silence(conn net.Conn) {
	buffer := make([]byte, 4096)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
	}
}

// endless answers with a line that never ends.
func endless(conn net.Conn) {
	text := strings.Repeat("+", 1<<16)
	for {
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

func hangUp(conn net.Conn) { conn.Close() }

// checkRefusal demands an error with all of want, a hint, and no password.
func checkRefusal(t *testing.T, url string, want ...string) {
	t.Helper()
	checkRefusalIn(t.Context(), t, url, want...)
}

// checkRefusalIn is checkRefusal of a call in ctx.
func checkRefusalIn(ctx context.Context, t *testing.T, url string, want ...string) {
	t.Helper()
	s, err := servers.Connect(ctx, url)
	if err == nil {
		s.Close()
		t.Fatalf("Connect(%s) works, want an error", url)
	}
	for _, w := range append(want, "; hint: ") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error lacks %q: %v", w, err)
		}
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("error repeats the password: %v", err)
	}
}

func TestConnectRefusesWhatDoesNotAnswerAsARedisShould(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
		want  string
	}{
		{"read-only", saying("-READONLY You can't write against a read only replica.\r\n"), "it takes no writes"},
		{"cannot save", saying("-MISCONF Redis is configured to save RDB snapshots\r\n"), "cannot save"},
		{"full", saying("-OOM command not allowed when used memory > 'maxmemory'.\r\n"), "memory is full"},
		{"protected", saying("-DENIED Redis is running in protected mode\r\n"), "protected mode"},
		{"crowded", saying("-ERR max number of clients reached\r\n"), "no room for another client"},
		{"orphaned replica", saying("-MASTERDOWN Link with MASTER is down\r\n"), "replica that lost its primary"},
		{"cluster", saying("-CLUSTERDOWN The cluster is down\r\n"), "part of a Redis Cluster"},
		{"hangs up", hangUp, "it hung up"},
		{"web server", saying("HTTP/1.1 400 Bad Request\r\n\r\n"), "not a Redis"},
		{"mail server", saying("+OK POP3 server ready\r\n"), "not a Redis"},
		{"a list of a billion", saying("*1000000000\r\n"), "a reply says that it has 1000000000 elements"},
		{"a string of a gigabyte", saying("$1000000000\r\n"), "a reply has more than"},
		{"an endless line", endless, "a line of a reply has more than"},
		{"TLS server", saying("\x15\x03\x01\x00\x02\x02\x0a\r\n"), "not a Redis"},
		{"echo", saying("-ERR unknown command 'AUTH', with args beginning with: '" + secret + "'\r\n"), "unknown command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := fake(t, c.serve)
			if c.name == "echo" {
				addr = ":" + secret + "@" + addr
			}
			checkRefusal(t, "redis://"+addr, c.want)
		})
	}
}

func TestConnectRefusesWhatItCannotReach(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, c := range []struct{ name, url, want string }{
		{"nothing there", "redis://:" + secret + "@" + closed.Addr().String(), "nothing listens there"},
		{"no such host", "redis://user:" + secret + "@no-such-host.invalid", "host name is not known"},
		{"no such socket", "unix://:" + secret + "@" + filepath.Join(t.TempDir(), "none"), "no such socket"},
		{"no TLS", "rediss://:" + secret + "@" + fake(t, saying("-ERR unknown command\r\n")), "does not speak TLS"},
		{"no TLS, and silent until a line ends", "rediss://:" + secret + "@" + fake(t, lineByLine), "does not speak TLS"},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefusal(t, c.url, c.want) })
	}
}

// lineByLine answers each line, as a Redis does before it knows a command.
func lineByLine(conn net.Conn) {
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if _, err := io.WriteString(conn, "-NOAUTH Authentication required.\r\n"); err != nil {
			return
		}
	}
}

// TestConnectRefusesWhoeverIsSilent: silence shows when the time is over.
func TestConnectRefusesWhoeverIsSilent(t *testing.T) {
	for _, scheme := range []string{"redis", "rediss"} {
		t.Run(scheme, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			checkRefusalIn(ctx, t, scheme+"://:"+secret+"@"+fake(t, silence), "no answer in time")
		})
	}
}

// timedOut is a context that times out when the channel is closed, whatever the clock.
type timedOut struct {
	context.Context
	over chan struct{}
}

func (c timedOut) Done() <-chan struct{} { return c.over }

func (c timedOut) Err() error {
	select {
	case <-c.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestConnectRefusesAServerThatGoesOnLoading: it is asked again until the time is over.
func TestConnectRefusesAServerThatGoesOnLoading(t *testing.T) {
	over := make(chan struct{})
	addr := fake(t, func(conn net.Conn) {
		asked := 0
		replies(conn, func([]string) string {
			if asked++; asked == 3 {
				close(over)
			}
			return "-LOADING Redis is loading the dataset in memory\r\n"
		})
	})
	checkRefusalIn(timedOut{t.Context(), over}, t, "redis://"+addr, "it is still loading its data")
}

func TestConnectRefusesAddresses(t *testing.T) {
	for _, c := range []struct{ name, url, want string }{
		{"no scheme", "localhost:6379", "localhost:6379 has no scheme; hint: write redis://localhost:6379"},
		{"no scheme, and a password", "user:" + secret + "@localhost:6379", "server address has no scheme; hint: write redis://user:password@"},
		{"web", "http://localhost", `scheme "http"`},
		{"sentinel", "redis+sentinel://localhost:26379/primary", "?master_name=mymaster for Sentinel"},
		{"several hosts", "redis://:" + secret + "@a:1,b:2", "has several hosts"},
		{"database", "redis://localhost/first", "invalid database number"},
		{"parameter", "redis://localhost?colour=red", "colour"},
		{"socket", "unix://", "empty unix socket path"},
		{"password", "redis://user:" + secret + "%zz@localhost", "cannot be parsed"},
		{"port", "redis://localhost:port", "invalid port"},
		{"password as a parameter", "redis://localhost:1/?password=" + secret, "redis://localhost:1 cannot be parsed: redis: unexpected option: password"},
		{"parameter with an @", "redis://localhost?password=a@" + secret, "cannot be parsed"},
		{"password and no @", "redis://user:" + secret, "invalid port"},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefusal(t, c.url, c.want) })
	}
}

func TestConnectWaitsForAServerThatIsLoading(t *testing.T) {
	m := miniredis.RunT(t)
	m.SetError("LOADING Redis is loading the dataset in memory")
	asked := make(chan struct{}, 1)
	address := fake(t, func(conn net.Conn) {
		buffer := make([]byte, 4096)
		for first := true; ; first = false {
			n, err := conn.Read(buffer)
			if err != nil {
				return
			}
			if !first {
				m.SetError("")
			}
			reply, err := ask(m.Addr(), buffer[:n])
			if err != nil {
				return
			}
			conn.Write(reply)
			select {
			case asked <- struct{}{}:
			default:
			}
		}
	})
	s, err := servers.Connect(t.Context(), "redis://"+address)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	if len(asked) == 0 {
		t.Error("nobody asked while it was loading")
	}
	if got := s.Kind(); got != design.External {
		t.Errorf("kind %q, want external", got)
	}
}

// ask sends one request to addr and returns the first answer.
func ask(addr string, request []byte) ([]byte, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	reply := make([]byte, 4096)
	n, err := conn.Read(reply)
	return reply[:n], err
}

func TestConnectEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	addr := fake(t, func(conn net.Conn) {
		if n, _ := conn.Read(make([]byte, 1)); n > 0 {
			cancel()
		}
		silence(conn)
	})
	if _, err := servers.Connect(ctx, "redis://"+addr); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it to wrap context.Canceled", err)
	}
}

func TestConnectToARealServer(t *testing.T) {
	private := servertest.Start(t)
	admin := redis.NewClient(private.Options())
	defer admin.Close()
	socket := private.Options().Addr
	do := func(args ...any) {
		t.Helper()
		if err := admin.Do(t.Context(), args...).Err(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	do("ACL", "SETUSER", "locker", "on", ">"+secret, "~lockbench:*", "+@all")
	do("ACL", "SETUSER", "narrow", "on", ">"+secret, "~lockbench:*", "+set", "+del", "+ping", "+select")
	do("ACL", "SETUSER", "reader", "on", ">"+secret, "~*", "+@read", "+ping", "+info") // Check finds its missing permissions
	do("CONFIG", "SET", "requirepass", secret)

	for _, user := range []string{"", "default", "locker", "narrow", "reader"} {
		t.Run("takes "+user, func(t *testing.T) {
			s, err := servers.Connect(t.Context(), fmt.Sprintf("unix://%s:%s@%s?db=3", user, secret, socket))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := s.Address(), "unix://"+socket+"?db=3"; got != want {
				t.Errorf("address %q, want %q", got, want)
			}
			if got := s.Version(); user == "locker" && got != private.Version() {
				t.Errorf("version %q, want %q", got, private.Version())
			}
			if got := s.Options(); got.DB != 3 || got.MaxRetries != -1 {
				t.Errorf("database %d, retries %d, want 3 and -1", got.DB, got.MaxRetries)
			}
		})
	}
	for _, c := range []struct{ name, login, query, want string }{
		{"wrong password", ":wrong@", "", "user or password is wrong"},
		{"unknown user", "nobody:" + secret + "@", "", "user or password is wrong"},
		{"no password", "", "", "it asks for a password"},
		{"no such database", ":" + secret + "@", "?db=99", "no such database"},
	} {
		t.Run(c.name, func(t *testing.T) { checkRefusal(t, "unix://"+c.login+socket+c.query, c.want) })
	}
	do("REPLICAOF", "127.0.0.1", "1")
	t.Run("replica", func(t *testing.T) {
		checkRefusal(t, "unix://:"+secret+"@"+socket, "replica of 127.0.0.1:1", "name the primary")
	})
}

func TestConnectLeavesNoKeyBehind(t *testing.T) {
	private := servertest.Start(t)
	if _, err := servers.Connect(t.Context(), private.Address()); err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(private.Options())
	defer client.Close()
	if keys, err := client.Keys(t.Context(), "*").Result(); err != nil || len(keys) > 0 {
		t.Errorf("keys %q, error %v; want none", keys, err)
	}
}
