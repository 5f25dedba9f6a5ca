package rueidislock_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/rueidislock"
	"github.com/lockbench/lockbench/internal/testkit/designtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDesignsKeepTheContractAndTheirClaims needs a real server: the library gives each
// try 20 ms, which the embedded one may exceed under the race detector.
func TestDesignsKeepTheContractAndTheirClaims(t *testing.T) {
	for _, d := range rueidislock.Patient() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			designtest.Run(t, d, designtest.Private(t, d))
		})
	}
}
