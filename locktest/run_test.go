package locktest_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/servertest"
	"github.com/lockbench/lockbench/locktest"
	"github.com/lockbench/lockbench/servers"
)

// TestRun tests locks in real time, as their authors would.
func TestRun(t *testing.T) {
	for _, name := range []string{"lua-token/strategy", "zoo/full"} {
		t.Run(name, func(t *testing.T) {
			owner := ownerOf(lockNamed(t, name), environment(t, servertest.Start(t)))
			locktest.Run(t, func(t *testing.T) lockbench.Locker {
				l, err := owner()
				if err != nil {
					t.Fatal(err)
				}
				return l
			})
		})
	}
}

// lockNamed returns a lock of the zoo or of the catalogue.
func lockNamed(t *testing.T, name string) design.Design {
	t.Helper()
	if animal, ok := strings.CutPrefix(name, "zoo/"); ok {
		return find(t, animal)
	}
	for _, d := range impls.All() {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no design %q", name)
	return design.Design{}
}

// ownerOf makes owners of d, each in a process of its own.
func ownerOf(d design.Design, env design.Environment) func() (lockbench.Locker, error) {
	return func() (lockbench.Locker, error) {
		env.PID++
		p, err := d.Open(env)
		if err != nil {
			return nil, err
		}
		return animal{p.Locker(design.Blind), p}, nil
	}
}

func environment(t *testing.T, server *servers.Server) design.Environment {
	t.Helper()
	return design.Environment{
		Redis: server.Options(), Host: "locktest", Now: time.Now, Random: rand.Reader, Pool: 4,
		Prefix: servers.NewPrefix(),
	}
}
