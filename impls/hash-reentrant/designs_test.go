package hashreentrant_test

import (
	"testing"

	"github.com/lockbench/lockbench/impls/design/designtest"
	hashreentrant "github.com/lockbench/lockbench/impls/hash-reentrant"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDesigns(t *testing.T) { designtest.Contract(t, hashreentrant.Designs()) }
