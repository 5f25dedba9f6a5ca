package setnxgetset_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/designtest"
	setnxgetset "github.com/lockbench/lockbench/impls/setnx-getset"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Each(t, func(t *testing.T, env design.Environment) {
		for _, d := range setnxgetset.Designs() {
			t.Run(d.Name, func(t *testing.T) { designtest.Run(t, d, env) })
		}
	})
}
