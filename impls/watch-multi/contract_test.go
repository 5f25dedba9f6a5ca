package watchmulti_test

import (
	"testing"

	"go.uber.org/goleak"

	watchmulti "github.com/lockbench/lockbench/impls/watch-multi"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Contract(t, watchmulti.Designs())
}
