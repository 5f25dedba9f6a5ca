//go:build linux

// Command baddays gives lockbench bad days: it is killed and signalled, its disk is full, its
// servers are hostile or fail, its files are damaged. It counts forbidden results, and fails if
// there are any. bench/bad-days.sh calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := campaign(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "baddays:", err)
		os.Exit(1)
	}
}

// A bench is the common state of all parts.
type bench struct {
	binary string
	folder string // for all files; removed at the end
	rand   *rand.Rand
	table  table

	kills, signals, mutations, troubles int
}

func campaign(ctx context.Context, args []string) (err error) {
	b := bench{}
	var seed uint64
	flags := flag.NewFlagSet("baddays", flag.ContinueOnError)
	flags.StringVar(&b.binary, "lockbench", "", "the command to try")
	flags.IntVar(&b.kills, "kills", 40, "how many times it, or a child of its, is killed")
	flags.IntVar(&b.signals, "signals", 1, "how many times each signal is sent to each verb")
	flags.IntVar(&b.mutations, "mutations", 300, "how many damaged files are read")
	flags.IntVar(&b.troubles, "troubles", 2, "how many times each trouble happens to a server")
	flags.Uint64Var(&seed, "seed", 1, "decides when, who and what")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if b.binary == "" {
		return errors.New("-lockbench names nothing; hint: bench/bad-days.sh builds it")
	}
	if b.folder, err = os.MkdirTemp("", "baddays-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	b.rand = rand.New(rand.NewPCG(seed, 1))
	for _, part := range []func(context.Context) error{b.kill, b.signal, b.disks, b.hostile, b.trouble, b.damage} {
		if err := part(ctx); err != nil {
			return errors.Join(err, b.table.write(os.Stdout))
		}
	}
	return errors.Join(b.table.write(os.Stdout), b.table.verdict())
}

// sub makes a new folder.
func (b *bench) sub(name string) (string, error) { return os.MkdirTemp(b.folder, name+"-") }

// redis starts a server of the user's, at a socket of its own.
func (b *bench) redis(ctx context.Context, settings ...string) (*server, error) {
	dir, err := b.sub("redis")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, socket: filepath.Join(dir, "socket"), settings: settings}
	return s, s.start(ctx)
}

// A server is a server of the user's.
type server struct {
	dir, socket string
	settings    []string
	process     *exec.Cmd
}

func (s *server) url() string { return "unix://" + s.socket }

func (s *server) start(ctx context.Context) error {
	args := append([]string{"--port", "0", "--unixsocket", s.socket, "--save", "", "--dir", s.dir, "--logfile", filepath.Join(s.dir, "log")}, s.settings...)
	s.process = exec.Command("redis-server", args...)
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("%w; hint: this needs redis-server", err)
	}
	for ctx.Err() == nil {
		if out, err := s.do("ping"); err == nil && out == "PONG" {
			return nil
		}
	}
	return ctx.Err()
}

// do sends a command.
func (s *server) do(args ...string) (string, error) {
	out, err := exec.Command("redis-cli", append([]string{"-s", s.socket}, args...)...).Output()
	return trim(out), err
}

// kill ends the server at once.
func (s *server) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
