package etcd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"slices"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// ErrNoProgram means that etcd is not installed.
var ErrNoProgram = errors.New("needs etcd, and there is no program etcd; hint: install it (Debian: etcd-server), or name a server: --server etcd://HOST:2379")

const homePrefix = "lockbench-etcd-" // of the folders of private servers

// A private is a private server.
type private struct {
	program string
	name    string // of the member, which nobody else knows
	peers   string // where other members connect
	home    *tempdir.Dir
	server  *Server
	id      string // of a member that joined others, whose names and addresses are in others
	others  string
	*daemon.Daemon
}

// Start starts a private server, and returns when it answers, within a minute. It listens on loopback
// ports, and syncs nothing to disk. Its heartbeats are ten times as fast as by default, so that it grants
// leases of a second; by default it grants none of less than two. The error is [ErrNoProgram] if etcd is
// not installed.
func Start(ctx context.Context) (*Server, error) {
	program, err := findProgram()
	if err != nil {
		return nil, err
	}
	p := &private{program: program}
	if err := p.start(ctx, p.listen); err != nil {
		return nil, err
	}
	return p.server, nil
}

// start starts a server with a new name in a new folder. listen chooses its addresses.
func (p *private) start(ctx context.Context, listen func() error) (err error) {
	p.name, p.server = rand.Text(), &Server{kind: design.Private, own: p}
	if p.home, err = daemon.NewHome("", homePrefix); err != nil {
		return fmt.Errorf("private etcd: %w", err)
	}
	p.Daemon, err = daemon.Start(ctx, daemon.Program{Name: "etcd", Home: p.home, Listen: listen, Command: p.command, Answers: p.answers})
	p.server.Daemon = p.Daemon
	return err
}

// listen chooses the addresses.
func (p *private) listen() (err error) {
	if p.server.host, err = servers.FreePort(); err == nil {
		p.peers, err = servers.FreePort()
	}
	return err
}

// command returns the command that starts the server. Its data are those of its port, since a server that
// could not listen may have left some.
func (p *private) command() (*exec.Cmd, error) {
	_, port, _ := net.SplitHostPort(p.server.host)
	clients, peers := "http://"+p.server.host, "http://"+p.peers
	args := []string{"--name", p.name, "--data-dir", p.home.File("data-" + port), "--logger", "zap", "--log-outputs", "stderr", "--log-level", "error",
		"--heartbeat-interval", "10", "--election-timeout", "100", "--strict-reconfig-check=false", // else it adds no member in its first seconds
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", p.others + p.name + "=" + peers}
	if p.others != "" {
		args = append(args, "--initial-cluster-state", "existing")
	}
	const unsynced = "--unsafe-no-fsync" // of 3.4.19, 3.5 and later
	if exec.Command(p.program, unsynced, "--version").Run() == nil {
		args = append(args, unsynced)
	}
	return exec.Command(p.program, args...), nil
}

// answers returns nil if the server answers and is ours: it has our name.
func (p *private) answers(ctx context.Context) error {
	c := p.server.client()
	defer c.close()
	var got struct{ Members []struct{ Name string } }
	err := c.call(ctx, "/v3/cluster/member/list", struct{}{}, &got)
	ours := slices.ContainsFunc(got.Members, func(m struct{ Name string }) bool { return m.Name == p.name })
	if err == nil && !ours {
		return fmt.Errorf("%w at %s", daemon.ErrForeign, p.server.host)
	}
	if err == nil {
		err = c.healthy(ctx)
	}
	if err != nil || p.server.version != "" {
		return err
	}
	return p.server.identify(ctx)
}

// Missing returns [ErrNoProgram] if etcd is not installed.
func Missing() error {
	_, err := findProgram()
	return err
}

func findProgram() (string, error) {
	path, err := exec.LookPath("etcd")
	if err != nil {
		return "", ErrNoProgram
	}
	return path, nil
}

// EndSessions implements [design.SessionEnder]: it revokes all leases, and with them their keys.
func (s *Server) EndSessions(ctx context.Context) (err error) {
	c := s.client()
	defer c.close()
	type lease struct {
		ID string `json:"ID"`
	}
	var got struct{ Leases []lease }
	if err := c.call(ctx, "/v3/lease/leases", struct{}{}, &got); err != nil {
		return err
	}
	for _, l := range got.Leases {
		failed := c.call(ctx, "/v3/lease/revoke", l, &struct{}{})
		var refused *refusal
		if errors.As(failed, &refused) && refused.status == http.StatusNotFound {
			failed = nil // it has just ended
		}
		err = errors.Join(err, failed)
	}
	return err
}
