package redsync_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/designtest"
	"github.com/lockbench/lockbench/impls/redsync"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	for _, d := range redsync.Designs() {
		t.Run(d.Name, func(t *testing.T) {
			designtest.EachOf(t, d, func(t *testing.T, env design.Environment) { designtest.Run(t, d, env) })
		})
	}
}
