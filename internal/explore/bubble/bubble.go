package bubble

import (
	"testing"
	"testing/synctest"

	"github.com/lockbench/lockbench/internal/explore"
)

// New returns bubbles that are part of the test t. They are entered from t's own
// goroutine, one at a time.
func New(t *testing.T) explore.Bubble {
	return explore.Bubble{
		Enter: func(body func()) {
			if err := Enter(t, func(*testing.T) { body() }); err != nil {
				panic(err) // package explore knows whether body has ended
			}
		},
		Wait: synctest.Wait,
	}
}
