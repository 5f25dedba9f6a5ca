package servers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/lib/tempdir"
)

const (
	homePrefix = "lockbench-server-" // prefix of the folders of private servers
	// longestSocket bounds the path of a Unix socket, with a margin: macOS allows
	// 104 bytes, Linux 108.
	longestSocket = 100
	loopback      = "127.0.0.1"
	// firstPort and endPort bound the ports that FreePort chooses from.
	firstPort, endPort = 12_000, 32_000
)

// A home is the temporary folder of one private server.
type home struct{ *tempdir.Dir }

// tempBase returns the parent folder of homes: the system's, unless a socket path
// in it would be too long.
func tempBase() string {
	base := os.TempDir()
	if len(filepath.Join(base, homePrefix+"0123456789", "socket")) > longestSocket && runtime.GOOS != "windows" {
		return "/tmp"
	}
	return base
}

// newHome makes a home in base.
func newHome(base string) (*home, error) {
	dir, err := tempdir.New(base, homePrefix)
	return &home{dir}, err
}

// listenOptions returns the address for a server in this home, and stores it for
// the process that may have to clean up.
func (h *home) listenOptions() (redis.Options, error) {
	opt := redis.Options{Network: "unix", Addr: h.File("socket")}
	if runtime.GOOS == "windows" {
		port, err := FreePort()
		if err != nil {
			return opt, err
		}
		opt = redis.Options{Network: "tcp", Addr: port}
	}
	return opt, os.WriteFile(h.File("address"), []byte(opt.Network+" "+opt.Addr), 0o600)
}

// FreePort returns a loopback address that was free a moment ago. Its port is below the ports that
// Linux, macOS and Windows give to outgoing connections by default, so that no connection takes it
// before a server listens there.
func FreePort() (addr string, err error) {
	const tries = 100
	for range tries {
		var l net.Listener
		l, err = net.Listen("tcp", fmt.Sprintf("%s:%d", loopback, firstPort+rand.IntN(endPort-firstPort)))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", err
}

// clearLeftovers removes homes in base with no live owner, and ends a server that
// still runs in one. Homes that it cannot remove stay until the next start.
func clearLeftovers(ctx context.Context, base string) {
	for _, dir := range tempdir.Leftovers(base, homePrefix) {
		leftover := &home{dir}
		leftover.endOrphan(ctx)
		_ = leftover.Remove()
	}
}

// endOrphan asks the server that listens in a leftover home to end, if the system
// did not end it with its parent. It leaves a server in another folder alone.
func (h *home) endOrphan(ctx context.Context) {
	text, err := os.ReadFile(h.File("address"))
	if err != nil {
		return
	}
	network, addr, _ := strings.Cut(string(text), " ")
	client := redis.NewClient(&redis.Options{
		Network: network, Addr: addr, Protocol: 2,
		MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
		DialTimeout: 200 * time.Millisecond, ReadTimeout: time.Second,
	})
	defer client.Close()
	where, err := client.ConfigGet(ctx, "dir").Result()
	if err == nil && sameFolder(where["dir"], h.Path) {
		_ = client.ShutdownNoSave(ctx).Err() // the answer is a closed connection
	}
}

func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
