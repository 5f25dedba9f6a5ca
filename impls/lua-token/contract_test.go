package luatoken_test

import (
	"testing"

	luatoken "github.com/lockbench/lockbench/impls/lua-token"
	"github.com/lockbench/lockbench/internal/designtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Contract(t, luatoken.Designs())
}
