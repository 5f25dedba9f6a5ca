package hashreentrant_test

import (
	"testing"

	hashreentrant "github.com/lockbench/lockbench/impls/hash-reentrant"
	"github.com/lockbench/lockbench/internal/designtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) { designtest.Contract(t, hashreentrant.Designs()) }
