package luatoken

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Contract(t, Designs())
}
