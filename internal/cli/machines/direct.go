package machines

import (
	"context"
	"crypto/rand"
	"net"
	"net/url"
	"runtime"
	"strings"

	"github.com/lockbench/lockbench/impls/design"
)

// An abstractSocket is a Unix socket without a file, which Linux has. Programs of the same kernel and network namespace
// can connect to it, and no others. They reach the loopback of the program that has opened it.
type abstractSocket struct {
	name     string
	listener net.Listener
}

// openAbstract opens an abstract socket. It returns nil if the system has none; agents then use the tunnel.
func openAbstract() *abstractSocket {
	if runtime.GOOS != "linux" {
		return nil // the name would be that of a file
	}
	a := &abstractSocket{name: "@lockbench-" + rand.Text()}
	var err error
	if a.listener, err = net.Listen("unix", a.name); err != nil {
		return nil
	}
	go func() {
		for {
			conn, err := a.listener.Accept()
			if err != nil {
				return // it is closed
			}
			_ = conn.Close()
		}
	}()
	return a
}

func (a *abstractSocket) close() error {
	if a == nil {
		return nil
	}
	return a.listener.Close()
}

// listens reports whether something of this machine accepts connections at an address.
func listens(ctx context.Context, network, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return false // also for a user without a right to the socket, or on another file system
	}
	_ = conn.Close() // it has carried nothing
	return true
}

// addressThere returns the address of a private service for programs on this machine, empty if none leads to it.
func addressThere(ctx context.Context, by design.Addressed) string {
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	conn, err := by.DialServer(ctx)
	if err != nil {
		return ""
	}
	at := conn.RemoteAddr()
	_ = conn.Close() // it has carried nothing
	u, err := url.Parse(by.URL(behind))
	switch {
	case err != nil:
		return ""
	case at.Network() == "tcp":
		u.Host = at.String()
	case at.Network() == "unix" && u.Scheme == "redis":
		u = &url.URL{Scheme: "unix", User: u.User, Path: at.String(), RawQuery: "db=" + strings.TrimPrefix(u.Path, "/")}
	default:
		return ""
	}
	return u.String()
}

// leads reports whether something of this machine accepts connections at an address that addressThere has returned.
func leads(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	switch {
	case err != nil || address == "":
		return false
	case u.Scheme == "unix":
		return listens(ctx, "unix", u.Path)
	}
	return listens(ctx, "tcp", u.Host)
}

// here reports whether the coordinator that has sent the way is on this machine.
func (w *way) here(ctx context.Context) bool {
	return runtime.GOOS == "linux" && w.Socket != "" && listens(ctx, "unix", w.Socket)
}
