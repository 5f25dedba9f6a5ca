package luatoken_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design/designtest"
	luatoken "github.com/lockbench/lockbench/impls/lua-token"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Contract(t, luatoken.Designs())
}
