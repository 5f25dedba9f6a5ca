package designtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// A testCase is something that a design does if it claims the guarantee, or in
// any case where there is none.
type testCase struct {
	name  string
	claim lockbench.Guarantee
	play  func(*Scene)
}

// Run holds d to the contract and to its claims, as far as that can be seen
// without faults, with its owners in one process and in several.
func Run(t *testing.T, d design.Design, env design.Environment) {
	t.Run("entry", func(t *testing.T) { entry(t, d) })
	for _, processes := range []int{1, 3} {
		for _, c := range cases {
			if c.claim != "" && !slices.Contains(d.Claims, c.claim) {
				continue
			}
			t.Run(fmt.Sprintf("%s in %d processes", c.name, processes), func(t *testing.T) {
				s := NewScene(t, d, env, processes)
				c.play(s)
				s.declared()
				s.Expire()
			})
		}
	}
}

// declared fails the case if a command was sent that the design does not list.
func (s *Scene) declared() {
	for _, name := range s.Gate.Seen() {
		if !slices.ContainsFunc(s.design.Commands, func(c string) bool { return strings.EqualFold(c, name) }) {
			s.Errorf("%s sent %s, which is not among its commands %v", s.design.Name, name, s.design.Commands)
		}
	}
}

// entry checks what the catalogue shows of d.
func entry(t *testing.T, d design.Design) {
	family, variant, ok := strings.Cut(d.Name, "/")
	if !ok || family == "" || variant == "" {
		t.Errorf("name %q, want family/variant", d.Name)
	}
	if d.Summary == "" || d.Source == "" {
		t.Errorf("%s: summary %q, source %q, want both", d.Name, d.Summary, d.Source)
	}
	for i, g := range d.Claims {
		known := slices.ContainsFunc(lockbench.Guarantees(), func(i lockbench.GuaranteeInfo) bool { return i.Name == g })
		if !known || slices.Contains(d.Claims[:i], g) {
			t.Errorf("%s claims %s: unknown or twice", d.Name, g)
		}
	}
	switch d.Reacquire {
	case design.Refused, design.Nested, design.Refreshed:
	default:
		t.Errorf("%s: reacquire %q is none of the three", d.Name, d.Reacquire)
	}
}
