//go:build linux

package baddays

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/longtest"
)

// A bench is the state of one part of the campaign.
type bench struct {
	binary   string
	adapters string // the folder of those that come with lockbench
	folder   string // for all files
	rand     *rand.Rand
	table    table

	kills, serviceKills, signals, mutations, troubles int
}

// TestBadDays fails if a part has a forbidden result, or tried nothing. It logs the counts.
func TestBadDays(t *testing.T) {
	longtest.Campaign(t)
	binary := build(t)
	adapters, err := filepath.Abs("../../../adapters")
	if err != nil {
		t.Fatal(err)
	}
	seed := longtest.Size(t, "SEED", 1)
	for n, part := range []struct {
		name string
		run  func(*bench, context.Context) error
	}{
		{"kills", (*bench).kill},
		{"kills on each service", (*bench).services},
		{"signals", (*bench).signal},
		{"full disks", (*bench).disks},
		{"hostile servers", (*bench).hostile},
		{"failing servers", (*bench).trouble},
		{"meddling with servers", (*bench).meddle},
		{"damaged files", (*bench).damage},
	} {
		t.Run(part.name, func(t *testing.T) {
			b := &bench{
				binary: binary, adapters: adapters, folder: folder(t), rand: rand.New(rand.NewPCG(uint64(seed), uint64(n))),
				kills: longtest.Size(t, "KILLS", 40), serviceKills: longtest.Size(t, "SERVICE_KILLS", 20), signals: longtest.Size(t, "SIGNALS", 1),
				mutations: longtest.Size(t, "MUTATIONS", 300), troubles: longtest.Size(t, "TROUBLES", 2),
			}
			err := part.run(b, t.Context())
			t.Logf("\n%s", &b.table)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.table.verdict(); err != nil {
				t.Error(err)
			}
		})
	}
}

// build builds the command.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lockbench")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/lockbench/lockbench/cmd/lockbench").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// folder makes a folder with a short path, since paths of sockets are short.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "baddays-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
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
	return strings.TrimSpace(string(out)), err
}

// kill ends the server at once.
func (s *server) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
