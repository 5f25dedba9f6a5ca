package watchmulti_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/designtest"
	watchmulti "github.com/lockbench/lockbench/impls/watch-multi"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesigns(t *testing.T) {
	designtest.Each(t, func(t *testing.T, env design.Environment) {
		for _, d := range watchmulti.Designs() {
			t.Run(d.Name, func(t *testing.T) { designtest.Run(t, d, env) })
		}
	})
}
