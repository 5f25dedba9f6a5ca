package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/lib/subprocess"
	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// ErrNoProgram means that PostgreSQL is not installed.
var ErrNoProgram = errors.New("needs postgresql, and there is no program postgres; hint: install it (Debian: postgresql), or name a server: --server postgres://USER:PASSWORD@HOST/DATABASE")

const (
	homePrefix   = "lockbench-postgres-" // of the folders of private servers
	startTimeout = time.Minute           // until a private server answers, even on a busy machine
	endTimeout   = 10 * time.Second      // until one that was asked to end is killed
	pollInterval = 20 * time.Millisecond
	portTries    = 3 // another program may listen at a free port first
)

// A private is the process of a private server. A restart replaces the process.
type private struct {
	programs string // their folder
	home     *tempdir.Dir
	url      *url.URL // with the password
	died     chan struct{}

	mu      sync.Mutex
	process *subprocess.Process
	gone    chan struct{} // closed when the process has ended
	serves  bool          // it has answered
	ending  bool          // it was asked to end
	stopped bool          // it stands still
	err     error         // reason of its end by itself; set before died is closed
}

// Start starts a private server, and returns when it answers, within a minute. It listens on a
// loopback port, and syncs nothing to disk. The error is [ErrNoProgram] if PostgreSQL is not installed.
//
// On Linux it ends with this process however that ends. Elsewhere it ends within a minute of the
// next Start after a SIGKILL of this process, because it then misses its folder.
func Start(ctx context.Context) (*Server, error) {
	programs, err := findPrograms()
	if err != nil {
		return nil, err
	}
	for _, left := range tempdir.Leftovers(base(), homePrefix) {
		_ = left.Remove() // the next start tries again
	}
	home, err := tempdir.New(base(), homePrefix)
	if err != nil {
		return nil, fmt.Errorf("private postgresql: %w", err)
	}
	p := &private{programs: programs, home: home, died: make(chan struct{})}
	s, err := p.open(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("private postgresql: %w", err), home.Remove())
	}
	return s, nil
}

// open creates the data of the server, and starts it.
func (p *private) open(ctx context.Context) (s *Server, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.create(ctx); err != nil {
		return nil, err
	}
	for range portTries {
		if p.url.Host, err = servers.FreePort(); err != nil {
			return nil, err
		}
		if s, err = newServer(design.Private, p.url.String()); err != nil {
			return nil, err
		}
		s.own = p
		if err = p.begin(ctx, s); err == nil {
			return s, nil
		}
		if err = errors.Join(err, p.kill()); ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// create makes the data of the server, below a folder of the user that it runs as.
func (p *private) create(ctx context.Context) error {
	password := rand.Text()
	p.url = &url.URL{Scheme: "postgres", User: url.UserPassword("lockbench", password), Path: "/postgres", RawQuery: "sslmode=disable"}
	secret := filepath.Join(p.folder(), "password")
	err := errors.Join(os.Chmod(p.home.Path, 0o711), os.Mkdir(p.folder(), 0o700), give(p.folder()))
	if err == nil {
		err = errors.Join(os.WriteFile(secret, []byte(password), 0o600), give(secret))
	}
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, filepath.Join(p.programs, "initdb"), "-D", p.data(), "-U", "lockbench", "-A", "scram-sha-256",
		"--pwfile", secret, "-N", "-E", "UTF8", "--no-locale", "--no-instructions")
	if err := unprivileged(command); err != nil {
		return err
	}
	command.Dir = p.folder()
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return os.Remove(secret)
}

func (p *private) folder() string { return filepath.Join(p.home.Path, "server") }
func (p *private) data() string   { return filepath.Join(p.folder(), "data") }

// begin starts the process, and waits until it answers.
func (p *private) begin(ctx context.Context, s *Server) error {
	log, err := os.Create(p.home.File("log"))
	if err != nil {
		return err
	}
	defer log.Close()
	_, port, _ := net.SplitHostPort(p.url.Host)
	command := exec.Command(filepath.Join(p.programs, "postgres"), "-D", p.data(), "-p", port)
	for _, setting := range []string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=500"} {
		command.Args = append(command.Args, "-c", setting)
	}
	command.Dir, command.Stdout, command.Stderr = p.folder(), log, log
	if err := unprivileged(command); err != nil {
		return err
	}
	gone := make(chan struct{})
	p.mu.Lock()
	p.serves, p.ending, p.stopped, p.gone = false, false, false, gone
	p.process, err = subprocess.Start(command, func(err error) { p.ended(gone, err) })
	p.mu.Unlock()
	if err != nil {
		return err
	}
	return p.answers(ctx, s, gone)
}

var errStatus = errors.New("exit status 0")

// ended records that the process has ended.
func (p *private) ended(gone chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serves && !p.ending && p.err == nil {
		p.err = fmt.Errorf("private postgresql ended by itself: %w; it said: %s", cmp.Or(err, errStatus), p.lastWords())
		close(p.died)
	}
	close(gone)
}

// lastWords returns the end of the log.
func (p *private) lastWords() string {
	const enough = 400
	text, _ := os.ReadFile(p.home.File("log")) // nothing was said
	return string(text[max(0, len(text)-enough):])
}

// answers waits until the server answers, and is ours: it knows the password, and where its data are.
func (p *private) answers(ctx context.Context, s *Server, gone <-chan struct{}) error {
	for {
		where, err := s.ask(ctx, "show data_directory")
		if err == nil && where != p.data() {
			return fmt.Errorf("a server with data in %s answered at %s", where, p.url.Host)
		}
		if err == nil {
			s.version, err = s.ask(ctx, "show server_version")
			s.version = "postgresql " + s.version
			p.mu.Lock()
			p.serves = true
			p.mu.Unlock()
			return err
		}
		select {
		case <-time.After(pollInterval):
		case <-gone:
			return fmt.Errorf("it ended: %s", p.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w: %w: %s", ctx.Err(), err, p.lastWords())
		}
	}
}

// kill ends the server and its backends at once.
func (p *private) kill() error {
	p.mu.Lock()
	p.ending = true
	process, gone := p.process, p.gone
	p.mu.Unlock()
	if process == nil {
		return nil
	}
	err := p.suspend(process, syscall.SIGKILL)
	if killed := process.Kill(); !errors.Is(killed, os.ErrProcessDone) {
		err = errors.Join(err, killed)
	}
	<-gone
	return err
}

// suspend stops the server, so that it starts no backend, and sends a signal to its backends.
func (p *private) suspend(process *subprocess.Process, s syscall.Signal) error {
	if !suspends {
		return nil
	}
	err := process.Suspend()
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return errors.Join(err, signalBackends(process.PID(), s))
}

// close ends the server, and removes its folder. A server that is not killed gives back its shared
// memory.
func (p *private) close() error {
	p.mu.Lock()
	p.ending = true
	process, gone, stopped := p.process, p.gone, p.stopped
	p.mu.Unlock()
	if !stopped && process.Signal(syscall.SIGQUIT) == nil { // without a last checkpoint
		select {
		case <-gone:
		case <-time.After(endTimeout):
		}
	}
	return errors.Join(p.kill(), p.home.Remove())
}

// Done implements [design.Mortal].
func (s *Server) Done() <-chan struct{} {
	if s.own == nil {
		return nil
	}
	return s.own.died
}

// Err implements [design.Mortal].
func (s *Server) Err() error {
	select {
	case <-s.Done():
		s.own.mu.Lock()
		defer s.own.mu.Unlock()
		return s.own.err
	default:
		return nil
	}
}

// Restart implements [design.Restarter]. What was committed is there afterwards; sessions are not.
func (s *Server) Restart(ctx context.Context, between func()) error {
	if err := s.own.kill(); err != nil {
		return fmt.Errorf("kill server %s: %w", s.address, err)
	}
	between()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := s.own.begin(ctx, s)
	for err != nil && ctx.Err() == nil { // a backend of the one before, which was killed, may not have ended yet
		time.Sleep(pollInterval)
		if err = s.own.kill(); err == nil {
			err = s.own.begin(ctx, s)
		}
	}
	if err != nil {
		return fmt.Errorf("start server %s again: %w", s.address, err)
	}
	return nil
}

var errNotSuspended = errors.New("the backends of a PostgreSQL can be stopped on Linux only; hint: leave this fault out")

// Suspend implements [design.Suspender].
func (s *Server) Suspend() error {
	if !suspends {
		return errNotSuspended
	}
	p := s.own
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	return p.suspend(p.process, stop)
}

// Resume implements [design.Suspender].
func (s *Server) Resume() error {
	p := s.own
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = false
	return errors.Join(signalBackends(p.process.PID(), goOn), p.process.Resume())
}

// Missing returns [ErrNoProgram] if PostgreSQL is not installed.
func Missing() error {
	_, err := findPrograms()
	return err
}

// debian matches Debian's programs, which are not in PATH.
var debian = "/usr/lib/postgresql/*/bin/postgres"

// findPrograms returns the folder of the newest PostgreSQL that is installed.
func findPrograms() (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob(debian)
	if err != nil || len(found) == 0 {
		return "", errors.Join(ErrNoProgram, err)
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}
