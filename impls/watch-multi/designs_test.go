package watchmulti_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design/designtest"
	watchmulti "github.com/lockbench/lockbench/impls/watch-multi"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesigns(t *testing.T) { designtest.Contract(t, watchmulti.Designs()) }
