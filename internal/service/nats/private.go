package nats

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

const homePrefix = "lockbench-nats-" // of the folders of private servers

// Start starts a private server, and returns when it answers, within a minute. It ends with this
// process, however that ends.
//
// The server writes an entry to a file before it acknowledges it, and syncs the file every two minutes.
// So acknowledged entries survive a kill of the server, but maybe not a failure of the machine.
func Start(ctx context.Context) (*Server, error) {
	home, err := daemon.NewHome("", homePrefix)
	if err != nil {
		return nil, fmt.Errorf("private nats: %w", err)
	}
	var s *Server
	its := settings{Name: "lockbench-" + rand.Text(), Password: rand.Text(), Folder: home.Path, JetStream: true}
	own, err := daemon.Start(ctx, daemon.Program{
		Name: "nats", Home: home,
		Listen: func() (err error) {
			if its.Address, err = servers.FreePort(); err == nil {
				s, err = newServer(design.Private, (&url.URL{Scheme: "nats", User: url.UserPassword(childUser, its.Password), Host: its.Address}).String())
			}
			return err
		},
		Command: func() (*exec.Cmd, error) { return childCommand(its) },
		Answers: func(ctx context.Context) error {
			name, err := s.greet(ctx)
			if err == nil && name != its.Name {
				return fmt.Errorf("%w at %s, named %s", daemon.ErrForeign, its.Address, name)
			}
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	s.Daemon = own
	return s, nil
}

// A Door is a private server without JetStream that other machines connect to. It keeps nothing.
type Door struct {
	// Address is where it listens, HOST:PORT. An empty host is all interfaces; port 0 becomes a free one.
	Address string
	// Token is the password of all clients.
	Token string
	// Certificate and Key are the files of its certificate and key in PEM, empty for a server without TLS.
	Certificate, Key string

	name string
	*daemon.Daemon
}

// Open starts the server, and returns when it answers, within a minute. It ends with this process, however
// that ends. The error says so if the address is in use.
func (d *Door) Open(ctx context.Context) error {
	host, port, err := net.SplitHostPort(d.Address)
	if err != nil {
		return fmt.Errorf("listen at %q: %w; hint: [HOST]:PORT, such as 10.0.0.9:4222", d.Address, err)
	}
	certificate, key, err := d.files()
	if err != nil {
		return err
	}
	home, err := daemon.NewHome("", homePrefix)
	if err != nil {
		return fmt.Errorf("private nats: %w", err)
	}
	d.name = "lockbench-" + rand.Text()
	d.Daemon, err = daemon.Start(ctx, daemon.Program{
		Name: "nats", Home: home,
		Listen: func() error { // and frees it again, for the child
			l, err := net.Listen("tcp", net.JoinHostPort(host, port))
			if err != nil {
				return fmt.Errorf("%w; hint: another address of this machine, or end what listens there", err)
			}
			_, free, err := net.SplitHostPort(l.Addr().String())
			d.Address = net.JoinHostPort(host, free)
			return errors.Join(err, l.Close())
		},
		Command: func() (*exec.Cmd, error) {
			return childCommand(settings{Name: d.name, Address: d.Address, Password: d.Token, Folder: home.Path, Certificate: certificate, Key: key})
		},
		Answers: func(context.Context) error {
			conn, err := d.Connect()
			if err == nil {
				conn.Close()
			}
			return err
		},
	})
	return err
}

// files returns the paths of certificate and key for the child, which has another working directory.
func (d *Door) files() (certificate, key string, err error) {
	if d.Certificate == "" {
		return "", "", nil
	}
	if _, err := tls.LoadX509KeyPair(d.Certificate, d.Key); err != nil {
		return "", "", fmt.Errorf("certificate %s, key %s: %w; hint: files in PEM that belong together", d.Certificate, d.Key, err)
	}
	certificate, err = filepath.Abs(d.Certificate)
	if err == nil {
		key, err = filepath.Abs(d.Key)
	}
	return certificate, key, err
}

// Connect connects to the server from its own machine. It returns [daemon.ErrForeign] if another server
// listens at its address.
func (d *Door) Connect(options ...nats.Option) (*nats.Conn, error) {
	host, port, err := net.SplitHostPort(d.Address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	options = append(options, Credentials(d.Token), nats.Timeout(dialTimeout))
	scheme := "nats"
	if d.Certificate != "" { // its name tells that it is ours
		scheme = "tls"
		options = append(options, nats.Secure(&tls.Config{InsecureSkipVerify: true}))
	}
	conn, err := nats.Connect((&url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}).String(), options...)
	if err == nil && conn.ConnectedServerName() != d.name {
		conn.Close()
		return nil, fmt.Errorf("%w at %s", daemon.ErrForeign, d.Address)
	}
	return conn, err
}

// Credentials returns the option by which a client shows the token of a [Door].
func Credentials(token string) nats.Option { return nats.UserInfo(childUser, token) }
