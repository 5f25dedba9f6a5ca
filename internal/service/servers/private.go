package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/impls/design"
)

const (
	startTimeout = 30 * time.Second // until a private server answers, even on a busy machine
	pollInterval = 5 * time.Millisecond
)

// programs are the server programs in PATH, in order of preference.
var programs = []string{"redis-server", "valkey-server"}

// ErrNoProgram means that neither redis-server nor valkey-server is in PATH.
var ErrNoProgram = errors.New("no redis-server or valkey-server in PATH; hint: install one, or name a server by URL")

// findProgram returns the path of a server program, or ErrNoProgram.
func findProgram() (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoProgram
}

// StartPrivate starts redis-server or valkey-server from PATH as a child of this
// process: on a Unix socket (on Windows a loopback port) in a temporary folder of its
// own, without persistence or eviction. It returns once the child itself has answered,
// within 30 s, and returns [ErrNoProgram] if there is no program.
//
// On Linux the child dies with this process however that ends. Elsewhere it outlives a
// SIGKILL of this process until the next StartPrivate.
func StartPrivate(ctx context.Context) (*Server, error) {
	program, err := findProgram()
	if err != nil {
		return nil, err
	}
	base := tempBase()
	clearLeftovers(ctx, base)
	home, err := newHome(base)
	if err != nil {
		return nil, fmt.Errorf("private server: %w", err)
	}
	s, err := startIn(ctx, home, program)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("private server %s: %w", program, err), home.Remove())
	}
	return s, nil
}

// startIn runs program in home and waits until it answers.
func startIn(ctx context.Context, home *home, program string) (*Server, error) {
	opt, err := home.listenOptions()
	if err != nil {
		return nil, err
	}
	s := newServer(design.Private, tune(opt))
	own := &ownProcess{launch: launch{program: program, args: serverArgs(home, opt), home: home, died: make(chan struct{})}}
	c, err := own.start()
	if err != nil {
		return nil, err
	}
	s.own, s.done, s.why = own, own.launch.died, own.whyDied
	s.stop = own.close
	if s.version, err = awaitOwn(ctx, s, c); err != nil {
		return nil, errors.Join(err, c.end())
	}
	return s, nil
}

// serverArgs are the arguments of a private server: nothing on disk, no eviction.
func serverArgs(home *home, opt redis.Options) []string {
	args := []string{
		"--dir", home.Path, "--daemonize", "no", "--loglevel", "warning",
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction",
	}
	if opt.Network == "unix" {
		return append(args, "--port", "0", "--unixsocket", opt.Addr, "--unixsocketperm", "700")
	}
	host, port, _ := net.SplitHostPort(opt.Addr)
	return append(args, "--bind", host, "--port", port)
}

// awaitOwn waits until the child itself serves commands, and returns its version. A
// child that loads its log answers long before.
func awaitOwn(ctx context.Context, s *Server, c *child) (string, error) {
	version, err := awaitAnswer(ctx, s, c)
	if err != nil {
		return "", err
	}
	client := s.single()
	defer client.Close()
	if err := awaitReady(ctx, client); err != nil {
		return "", fmt.Errorf("does not serve at %s: %w%s", s.address, err, c.lastWords())
	}
	return version, nil
}

// awaitAnswer polls until the answer comes from the child, and returns its version:
// another process may have taken the port meanwhile.
func awaitAnswer(ctx context.Context, s *Server, c *child) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		info, err := askInfo(ctx, s.Options())
		if err == nil {
			if got := info["process_id"]; got != strconv.Itoa(c.process.PID()) {
				return "", fmt.Errorf("process %q answered at %s, not our child %d; hint: have the program itself in PATH, not a script around it", got, s.address, c.process.PID())
			}
			return versionOf(info), nil
		}
		select {
		case <-c.exited:
			return "", c.err
		case <-ctx.Done():
			return "", fmt.Errorf("did not answer at %s: %w (%w)%s", s.address, err, ctx.Err(), c.lastWords())
		case <-time.After(pollInterval):
		}
	}
}

// askInfo requests INFO server on a connection of its own. It dials first without the
// client library, which would log every early attempt.
func askInfo(ctx context.Context, opt *redis.Options) (map[string]string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, opt.Network, opt.Addr)
	if err != nil {
		return nil, err
	}
	if err := conn.Close(); err != nil {
		return nil, err
	}
	client := redis.NewClient(opt)
	defer client.Close()
	return serverInfo(ctx, client)
}
