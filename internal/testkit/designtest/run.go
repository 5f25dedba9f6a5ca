package designtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/onredis"
	"github.com/lockbench/lockbench/internal/testkit/longtest"
	"github.com/lockbench/lockbench/internal/testkit/servertest"
)

// A testCase is a requirement for designs that claim the cell, or for all designs if the
// cell is zero, that package locktest does not test.
type testCase struct {
	name  string
	claim lockbench.Cell
	play  func(*Scene)
}

// Contract tests designs against the contract and their claims, as far as possible without faults:
// by package locktest, as users test their own locks, and by cases of its own with owners in one
// process and in several. It does so in virtual time, unless a design needs features that the
// virtual server lacks, and on private servers that all designs share.
func Contract(t *testing.T, designs []design.Design) {
	most := slices.MaxFunc(designs, func(a, b design.Design) int { return a.ServerCount() - b.ServerCount() })
	for _, d := range designs {
		t.Run(d.Name+" in virtual time", func(t *testing.T) { runVirtual(t, d) })
	}
	t.Run("redis", func(t *testing.T) {
		env := Private(t, most)
		for _, d := range designs {
			its := env
			its.Others = env.Others[:d.ServerCount()-1]
			t.Run(d.Name, func(t *testing.T) { run(t, d, its) })
			t.Run(d.Name+" by locktest", func(t *testing.T) {
				longtest.Only(t)
				t.Parallel()
				claimsReal(t, d, its)
			})
		}
	})
}

// runVirtual plays every case in a bubble of its own.
func runVirtual(t *testing.T, d design.Design) {
	if slices.Contains(d.Commands, "CLIENT TRACKING") {
		t.Skip("the virtual server reports no changed keys")
	}
	for seed := range longtest.Times(1, 3) {
		t.Run("by locktest", func(t *testing.T) {
			inBubble(t, d, seed, func(t *testing.T, env onredis.Environment) { claimsVirtual(t, d, env, false) })
		})
		t.Run("by locktest in 1 process", func(t *testing.T) {
			inBubble(t, d, seed, func(t *testing.T, env onredis.Environment) { claimsVirtual(t, d, env, true) })
		})
	}
	for seed := range longtest.Times(1, 10) {
		each(t, d, func(t *testing.T, play func(*testing.T, onredis.Environment)) { inBubble(t, d, seed, play) })
	}
}

// inBubble plays on servers in a bubble.
func inBubble(t *testing.T, d design.Design, seed int, play func(*testing.T, onredis.Environment)) {
	synctest.Test(t, func(t *testing.T) {
		env := on(servertest.Virtual(t, uint64(seed)))
		for i := range d.ServerCount() - 1 {
			env.Others = append(env.Others, servertest.Virtual(t, uint64(seed*10+i)))
		}
		play(t, env)
	})
}

// Run tests d against the contract and its claims on existing servers, in real time.
func Run(t *testing.T, d design.Design, env onredis.Environment) {
	t.Run("by locktest", func(t *testing.T) { claimsReal(t, d, env) })
	run(t, d, env)
}

// run plays every case on existing servers.
func run(t *testing.T, d design.Design, env onredis.Environment) {
	t.Run("entry", func(t *testing.T) { entry(t, d) })
	each(t, d, func(t *testing.T, play func(*testing.T, onredis.Environment)) { play(t, env) })
}

// each runs every case that applies to d in a subtest.
func each(t *testing.T, d design.Design, run func(t *testing.T, play func(*testing.T, onredis.Environment))) {
	for _, processes := range []int{1, 3} {
		for _, c := range cases {
			if c.claim.Guarantee != "" && !d.Claims.Claims(c.claim) {
				continue
			}
			t.Run(fmt.Sprintf("%s in %d processes", c.name, processes), func(t *testing.T) {
				run(t, func(t *testing.T, env onredis.Environment) {
					s := NewScene(t, d, env, processes)
					s.TTL = time.Minute // longer than a case takes on any machine
					c.play(s)
					declared(t, d, s.Gate)
					s.Expire()
				})
			})
		}
	}
}

// declared fails t if a command passed the gate that d does not list.
func declared(t *testing.T, d design.Design, gate *Gate) {
	t.Helper()
	for _, name := range slices.Compact(slices.Sorted(slices.Values(gate.Seen()))) {
		if !slices.ContainsFunc(d.Commands, func(c string) bool { return strings.EqualFold(c, name) }) {
			t.Errorf("%s sent %s, which is not among its commands %v", d.Name, name, d.Commands)
		}
	}
}

// entry checks d's entry in the catalogue.
func entry(t *testing.T, d design.Design) {
	family, variant, ok := strings.Cut(d.Name, "/")
	if !ok || family == "" || variant == "" {
		t.Errorf("name %q, want family/variant", d.Name)
	}
	if d.Summary == "" || d.Source == "" {
		t.Errorf("%s: summary %q, source %q, want both", d.Name, d.Summary, d.Source)
	}
	claims(t, d)
	switch d.Reacquire {
	case design.Refused, design.Nested, design.Refreshed:
	default:
		t.Errorf("%s: reacquire %q is none of the three", d.Name, d.Reacquire)
	}
}

// claims checks that every claim of d is known and made once, and that each exception
// has a reason and gives up something that is claimed otherwise.
func claims(t *testing.T, d design.Design) {
	for i, g := range d.Claims.Keeps {
		if g.Info().Name == "" || slices.Contains(d.Claims.Keeps[:i], g) {
			t.Errorf("%s claims %s: unknown or twice", d.Name, g)
		}
	}
	for _, e := range d.Claims.Except {
		if e.Why == "" || e.Under == 0 {
			t.Errorf("%s: exception %+v, want conditions and a reason", d.Name, e)
		}
		for _, g := range e.Gives {
			if !slices.Contains(d.Claims.Keeps, g) {
				t.Errorf("%s gives up %s under %s, and does not claim it at all", d.Name, g, e.Under)
			}
		}
	}
	read, err := lockbench.Claims{}.Parse(d.Claims.Terms()...)
	if err != nil {
		t.Errorf("%s: claims are not read as they are written: %v", d.Name, err)
	}
	if diff := cmp.Diff(read.Terms(), d.Claims.Terms()); diff != "" {
		t.Errorf("%s: claims as read (-read +written):\n%s", d.Name, diff)
	}
}
