package standstill

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestStartStandsStill: the process stands still while a Watcher starts. No standstill covers
// events that a reader had seen by then.
func TestStartStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held time.Time // from when on a reader is held back
		c := Config{Ask: []func(context.Context) error{func(context.Context) error { return nil }}}
		c.Certain = func(time.Time) {
			if held.IsZero() {
				time.Sleep(time.Second)
				held = time.Now()
			}
		}
		c.Seen = func(s Standstill) {
			if s.From.Before(held) {
				t.Errorf("a standstill begins %v before readers were held back", held.Sub(s.From))
			}
		}
		w := Start(c)
		time.Sleep(time.Second)
		if sum := w.Stop(); sum.Times != 0 {
			t.Errorf("got %d standstills, want none: nothing was late since", sum.Times)
		}
	})
}
