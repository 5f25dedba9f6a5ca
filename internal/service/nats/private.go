package nats

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os/exec"

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
	its := settings{Name: "lockbench-" + rand.Text(), Password: rand.Text(), Folder: home.Path}
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
