package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/lib/tempdir"
	"github.com/lockbench/lockbench/internal/service/daemon"
	"github.com/lockbench/lockbench/internal/service/servers"
)

// listenVariable makes the test program a server at this address, which tells its number to every
// connection, and ends when it hears one.
const listenVariable = "LOCKBENCH_TEST_LISTEN"

func TestMain(m *testing.M) {
	if address := os.Getenv(listenVariable); address != "" {
		serve(address)
	}
	goleak.VerifyTestMain(m)
}

// serve never returns.
func serve(address string) {
	if address == "nowhere" {
		fmt.Fprintln(os.Stderr, "no such place")
		os.Exit(3)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			os.Exit(2)
		}
		go func() {
			fmt.Fprintln(conn, os.Getpid())
			if n, _ := conn.Read(make([]byte, 1)); n > 0 {
				fmt.Fprintln(os.Stderr, "it was told to end")
				os.Exit(0)
			}
			conn.Close()
		}()
	}
}

// A server is the test program as a private server.
type server struct {
	*daemon.Daemon
	address string
	told    int // what answered
}

// start starts a server in a folder of its own; change may change its program.
func start(t *testing.T, change func(*daemon.Program)) (*server, string, error) {
	t.Helper()
	home, err := tempdir.New(t.TempDir(), "lockbench-daemon-")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{}
	p := daemon.Program{
		Name: "test", Home: home,
		Listen: func() (err error) {
			s.address, err = servers.FreePort()
			return err
		},
		Command: func() (*exec.Cmd, error) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), listenVariable+"="+s.address)
			return cmd, nil
		},
		Answers: func(ctx context.Context) (err error) {
			s.told, err = ask(ctx, s.address)
			return err
		},
	}
	if change != nil {
		change(&p)
	}
	s.Daemon, err = daemon.Start(t.Context(), p)
	return s, home.Path, err
}

// ask returns the number of the process that serves at an address.
func ask(ctx context.Context, address string) (int, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var pid int
	_, err = fmt.Fscanln(conn, &pid)
	return pid, err
}

func TestRestart(t *testing.T) {
	s, home, err := start(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := s.PID()
	if s.told != first {
		t.Errorf("process %d answered, want %d", s.told, first)
	}
	ended := false
	err = s.Restart(t.Context(), func() {
		_, err := ask(t.Context(), s.address)
		ended = err != nil
	})
	if err != nil || !ended {
		t.Fatalf("error %v, ended before it started again: %t", err, ended)
	}
	if s.PID() == first || s.told != s.PID() {
		t.Errorf("process %d answers after %d, told %d", s.PID(), first, s.told)
	}
	if s.Err() != nil {
		t.Errorf("a restart is an end by itself: %v", s.Err())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ask(t.Context(), s.address); err == nil {
		t.Error("it answers after its end")
	}
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder: %v, want none", err)
	}
}

func TestSuspend(t *testing.T) {
	s, _, err := start(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Suspend(); err != nil {
		t.Skip(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := ask(t.Context(), s.address)
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("it answers while it is suspended: %v", err)
	case <-time.After(50 * time.Millisecond): // a server that does not stand still answers sooner
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestEndsByItself(t *testing.T) {
	s, _, err := start(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "it was told to end") {
		t.Errorf("got %v, want its last words", err)
	}
	_, _ = io.Copy(io.Discard, conn) // it ends with the server
}

// TestStartFails checks that a program that ends, and one whose place another server has, are errors,
// and that no folder is left.
func TestStartFails(t *testing.T) {
	other, _, err := start(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for want, change := range map[string]func(*daemon.Program){
		"no such place": func(p *daemon.Program) {
			p.Command = func() (*exec.Cmd, error) {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), listenVariable+"=nowhere")
				return cmd, nil
			}
		},
		"another server answered: " + strconv.Itoa(other.PID()): func(p *daemon.Program) {
			p.Answers = func(ctx context.Context) error {
				pid, err := ask(ctx, other.address)
				return errors.Join(fmt.Errorf("%w: %d", daemon.ErrForeign, pid), err)
			}
		},
		"no room": func(p *daemon.Program) { p.Listen = func() error { return errors.New("no room") } },
	} {
		_, home, err := start(t, change)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "private test") {
			t.Errorf("got %v, want %q", err, want)
		}
		if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: its folder: %v, want none", want, err)
		}
	}
}
