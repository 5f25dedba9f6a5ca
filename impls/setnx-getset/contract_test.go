package setnxgetset_test

import (
	"testing"

	setnxgetset "github.com/lockbench/lockbench/impls/setnx-getset"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Contract(t, setnxgetset.Designs())
}
