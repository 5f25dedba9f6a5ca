package watchmulti_test

import (
	"testing"

	watchmulti "github.com/lockbench/lockbench/impls/watch-multi"
	"github.com/lockbench/lockbench/internal/designtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) { designtest.Contract(t, watchmulti.Designs()) }
