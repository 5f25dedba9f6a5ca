package backend_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// The remote service: a process with connections, a clock and a memory of its own, which a
// restart empties. It shows that a backend needs nothing of Redis. A request is a line:
//
//	LOCK key owner ms     OK, or NO while another owner's lease lasts
//	UNLOCK key owner      OK, or NO where the owner has not the key; "-" is any owner
//	SWEEP prefix          how many keys there were

// lockServer serves connections to a listener until the process ends.
func lockServer(l net.Listener) error {
	s := &lockTable{held: map[string]claim{}}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			for in := bufio.NewScanner(conn); in.Scan(); {
				fmt.Fprintln(conn, s.answer(strings.Fields(in.Text())))
			}
		}()
	}
}

type lockTable struct {
	mu   sync.Mutex
	held map[string]claim
}

type claim struct {
	owner string
	until time.Time
}

func (s *lockTable) answer(words []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch words[0] {
	case "LOCK":
		ms, _ := strconv.Atoi(words[3])
		if c := s.held[words[1]]; now.Before(c.until) {
			return "NO"
		}
		s.held[words[1]] = claim{words[2], now.Add(time.Duration(ms) * time.Millisecond)}
		return "OK"
	case "UNLOCK":
		c := s.held[words[1]]
		if !now.Before(c.until) || words[2] != "-" && c.owner != words[2] {
			return "NO"
		}
		delete(s.held, words[1])
		return "OK"
	case "SWEEP":
		n := 0
		for key := range s.held {
			if strings.HasPrefix(key, words[1]) {
				delete(s.held, key)
				n++
			}
		}
		return strconv.Itoa(n)
	}
	return "what?"
}

// remote is the backend.
type remote struct{}

func (remote) Name() string           { return "remote" }
func (remote) Offers() design.Service { return &remoteService{} }
func (remote) Serves(string) bool     { return false }

func (remote) Open(_ context.Context, _ []string, n int) (all []design.Service, err error) {
	for range n {
		dir, err := os.MkdirTemp("", "lockbench-remote-")
		if err != nil {
			return all, err
		}
		s := &remoteService{addr: filepath.Join(dir, "s")}
		if err := s.start(); err != nil {
			return all, err
		}
		all = append(all, s)
	}
	return all, nil
}

// serves names the socket at which the test's program is the service.
const serves = "LOCKBENCH_TEST_SERVES"

// remoteService is one service, a child process with a socket in a folder of its own.
type remoteService struct {
	addr  string
	child *exec.Cmd
}

var (
	_ design.Remote    = (*remoteService)(nil)
	_ design.Restarter = (*remoteService)(nil)
)

func (s *remoteService) start() error {
	s.child = exec.Command(os.Args[0])
	s.child.Env = append(os.Environ(), serves+"="+s.addr)
	out, err := s.child.StdoutPipe()
	if err == nil {
		err = s.child.Start()
	}
	if err != nil {
		return err
	}
	_, err = bufio.NewReader(out).ReadString('\n') // it listens
	return err
}

func (s *remoteService) Kind() string                          { return design.Private }
func (s *remoteService) Version() string                       { return "lock server of a test" }
func (s *remoteService) Address() string                       { return "unix://" + s.addr }
func (s *remoteService) Reach() any                            { return s.addr }
func (s *remoteService) Remote()                               {}
func (s *remoteService) Check(context.Context, []string) error { return nil }

func (s *remoteService) Ping(ctx context.Context) error {
	_, err := s.Sweep(ctx, "nothing")
	return err
}

func (s *remoteService) Sweep(ctx context.Context, prefix string) (int, error) {
	c := &caller{addr: s.addr}
	defer c.close()
	answer, err := c.call(ctx, "SWEEP "+prefix)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(answer)
}

func (s *remoteService) Restart(_ context.Context, between func()) error {
	if err := s.kill(); err != nil {
		return err
	}
	between()
	return s.start() // at its former address
}

func (s *remoteService) Close() error {
	return errors.Join(s.kill(), os.RemoveAll(filepath.Dir(s.addr)))
}

func (s *remoteService) kill() error {
	err := s.child.Process.Kill()
	_ = s.child.Wait() // the error is that it was killed
	return err
}

// A caller is a connection, opened on first use. It makes one call at a time.
type caller struct {
	addr string
	mu   sync.Mutex
	conn net.Conn
	in   *bufio.Reader
}

func (c *caller) call(ctx context.Context, line string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", c.addr)
		if err != nil {
			return "", fmt.Errorf("%w: %w", lockbench.ErrNoEffect, err)
		}
		c.conn, c.in = conn, bufio.NewReader(conn)
	}
	answer, err := c.exchange(line)
	if err != nil {
		c.conn.Close()
		c.conn = nil
	}
	return answer, err
}

func (c *caller) exchange(line string) (string, error) {
	if _, err := io.WriteString(c.conn, line+"\n"); err != nil {
		return "", err
	}
	answer, err := c.in.ReadString('\n')
	return strings.TrimSpace(answer), err
}

func (c *caller) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// remoteLock is a token lock on the service. If compares is false, a release frees the key
// even if another owner holds it.
func remoteLock(name string, compares bool) design.Design {
	return design.Design{
		Name: name, Summary: "a token lock on the service of a test", Source: "a test",
		Claims: lockbench.LeaseClaims(), Reacquire: design.Refused, Granted: design.WholeMillis,
		Backend: remote{},
		Open: func(env design.Environment) (design.Process, error) {
			addr, ok := env.Services[0].(string)
			if !ok {
				return nil, errors.New("no address of the service")
			}
			return &remoteProcess{env: env, addr: addr, compares: compares}, nil
		},
	}
}

type remoteProcess struct {
	env      design.Environment
	addr     string
	compares bool

	mu     sync.Mutex
	owners []*remoteOwner
}

// Locker makes an owner with a connection of its own.
func (p *remoteProcess) Locker(o design.Observer) lockbench.Locker {
	p.mu.Lock()
	defer p.mu.Unlock()
	owner := &remoteOwner{process: p, seen: o, to: &caller{addr: p.addr}, name: fmt.Sprintf("%s-%d", p.env.Host, len(p.owners))}
	p.owners = append(p.owners, owner)
	return owner
}

func (p *remoteProcess) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.owners {
		o.to.close()
	}
	return nil
}

type remoteOwner struct {
	process *remoteProcess
	seen    design.Observer
	to      *caller
	name    string
	grants  int
}

// ask sends a request and reports whether the answer was OK.
func (o *remoteOwner) ask(ctx context.Context, line string) (yes bool, err error) {
	err = o.process.env.Pass(ctx, func(ctx context.Context) error {
		answer, err := o.to.call(ctx, line)
		yes = answer == "OK"
		return err
	})
	return yes, err
}

func (o *remoteOwner) Acquire(ctx context.Context, key string, opt lockbench.Options) (lockbench.Lease, error) {
	o.grants++
	l := &remoteLease{owner: o, key: o.process.env.Prefix + key, token: fmt.Sprintf("%s-%d", o.name, o.grants)}
	l.Granted = design.WholeMillis(opt.TTL)
	err := design.Poll(ctx, opt.Wait, design.Every(5*time.Millisecond), func() (bool, error) {
		l.From = o.seen.Attempt(key)
		return o.ask(ctx, fmt.Sprintf("LOCK %s %s %d", l.key, l.token, l.Granted.Milliseconds()))
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

type remoteLease struct {
	design.Validity
	owner      *remoteOwner
	key, token string
}

func (l *remoteLease) Release(ctx context.Context) error {
	token := l.token
	if !l.owner.process.compares {
		token = "-"
	}
	freed, err := l.owner.ask(ctx, "UNLOCK "+l.key+" "+token)
	if err == nil && !freed {
		err = lockbench.ErrNotHeld
	}
	return err
}
