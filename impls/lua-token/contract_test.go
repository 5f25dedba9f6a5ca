package luatoken_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/designtest"
	luatoken "github.com/lockbench/lockbench/impls/lua-token"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Each(t, func(t *testing.T, env design.Environment) {
		for _, d := range luatoken.Designs() {
			t.Run(d.Name, func(t *testing.T) { designtest.Run(t, d, env) })
		}
	})
}
