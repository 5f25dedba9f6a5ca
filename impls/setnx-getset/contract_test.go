package setnxgetset_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design/designtest"
	setnxgetset "github.com/lockbench/lockbench/impls/setnx-getset"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	designtest.Contract(t, setnxgetset.Designs())
}
