package hashreentrant_test

import (
	"testing"

	"go.uber.org/goleak"

	hashreentrant "github.com/lockbench/lockbench/impls/hash-reentrant"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Contract(t, hashreentrant.Designs())
}
