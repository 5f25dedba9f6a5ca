package redislock_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/redislock"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Contract(t, redislock.Designs())
}
