package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	homePrefix  = "lockbench-server-" // of the folders of private servers
	freshPrefix = ".lockbench-new-"   // of a folder that is not locked yet
	// longestSocket is how long the path of a Unix socket may be, less a margin:
	// macOS allows 104 bytes, Linux 108.
	longestSocket = 100
)

// A home is the temporary folder of one private server. Its owner keeps a lock
// on a file in it; the system lets go of that when the owner ends, however it
// ends, so that the next start can tell a leftover from a home in use.
type home struct {
	path string
	lock *os.File
}

// tempBase returns the folder that homes are made in: the system's, unless a
// socket path in it would be too long.
func tempBase() string {
	base := os.TempDir()
	if len(filepath.Join(base, homePrefix+"0123456789", "socket")) > longestSocket && runtime.GOOS != "windows" {
		return "/tmp"
	}
	return base
}

// newHome makes a home in base, for this user only. It gets the name by which
// others look for leftovers only when it is locked.
func newHome(base string) (*home, error) {
	fresh, err := os.MkdirTemp(base, freshPrefix)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(base, homePrefix+strings.TrimPrefix(filepath.Base(fresh), freshPrefix))
	lock, err := lockFile(filepath.Join(fresh, "lock"))
	if err == nil {
		if err = os.Rename(fresh, path); err == nil {
			return &home{path: path, lock: lock}, nil
		}
		err = errors.Join(err, lock.Close())
	}
	return nil, errors.Join(err, os.RemoveAll(fresh))
}

func (h *home) file(name string) string { return filepath.Join(h.path, name) }

// remove deletes the home and gives its lock back. It takes the home out of the sight of
// processes that clear leftovers first, where the system renames folders with open files:
// they would lock what is being deleted, and so put a file into it.
func (h *home) remove() error {
	unseen := filepath.Join(filepath.Dir(h.path), freshPrefix+strings.TrimPrefix(filepath.Base(h.path), homePrefix))
	if os.Rename(h.path, unseen) == nil {
		h.path = unseen
	}
	return errors.Join(h.lock.Close(), os.RemoveAll(h.path))
}

// listenOptions returns where a server in this home is to listen, and notes it
// for the process that may have to clear up.
func (h *home) listenOptions() (redis.Options, error) {
	opt := redis.Options{Network: "unix", Addr: h.file("socket")}
	if runtime.GOOS == "windows" {
		port, err := freePort()
		if err != nil {
			return opt, err
		}
		opt = redis.Options{Network: "tcp", Addr: port}
	}
	return opt, os.WriteFile(h.file("address"), []byte(opt.Network+" "+opt.Addr), 0o600)
}

// freePort returns a loopback address that was free a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// clearLeftovers removes the homes in base whose owner is gone, and ends a server
// that still runs in one. What it cannot remove it leaves: the next start comes.
func clearLeftovers(ctx context.Context, base string) {
	paths, _ := filepath.Glob(filepath.Join(base, homePrefix+"*")) // only the pattern can be at fault
	for _, path := range paths {
		if isOurs(path) {
			clearLeftover(ctx, path)
		}
	}
}

func clearLeftover(ctx context.Context, path string) {
	lock, err := lockFile(filepath.Join(path, "lock"))
	if err != nil {
		return // in use, or not ours after all
	}
	leftover := &home{path: path, lock: lock}
	leftover.endOrphan(ctx)
	_ = leftover.remove()
}

// endOrphan asks the server that listens in a leftover home to end, where the
// system did not end it with its parent. One that runs elsewhere is left alone.
func (h *home) endOrphan(ctx context.Context) {
	text, err := os.ReadFile(h.file("address"))
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
	if err == nil && sameFolder(where["dir"], h.path) {
		_ = client.ShutdownNoSave(ctx).Err() // an ended connection is the answer
	}
}

func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// errInUse: another process, or another server of this one, holds the lock.
var errInUse = fmt.Errorf("folder is in use")
