package hashreentrant_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/impls/design/designtest"
	hashreentrant "github.com/lockbench/lockbench/impls/hash-reentrant"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesigns(t *testing.T) {
	designtest.Each(t, func(t *testing.T, env design.Environment) {
		for _, d := range hashreentrant.Designs() {
			t.Run(d.Name, func(t *testing.T) { designtest.Run(t, d, env) })
		}
	})
}
