package bubble

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// sleepOn and block never end in a bubble that is over; TestMain knows them.
func sleepOn() {
	for {
		time.Sleep(time.Second)
	}
}

func block() { <-make(chan int) }

func TestEnter(t *testing.T) {
	for _, c := range []struct {
		name string
		body func(*testing.T)
		want []string // in the error, none for no error
	}{
		{"nothing is left", func(*testing.T) { time.Sleep(time.Hour) }, nil},
		{"looks whether it is closed", func(*testing.T) {
			closed := make(chan struct{})
			go func() {
				for {
					time.Sleep(20 * time.Second)
					select {
					case <-closed:
						return
					default:
					}
				}
			}()
			close(closed)
		}, nil},
		{"ends by a clean-up", func(t *testing.T) {
			done := make(chan struct{})
			go func() { <-done }()
			t.Cleanup(func() { close(done) })
		}, nil},
		{"goes on for ever", func(*testing.T) {
			go sleepOn()
			go sleepOn()
			go block()
		}, []string{"left 3 goroutines behind: 1 in ", "bubble.block (", ", 2 in ", "bubble.sleepOn (", "left_test.go:"}},
		{"does not return", func(*testing.T) { block() }, []string{"waits for ever, in 1 goroutine: 1 in ", "bubble.block ("}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Enter(t, c.body)
			var left *LeftError
			if errors.As(err, &left) != (c.want != nil) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
		})
	}
}

// timers are the timers of a client library.
var timers = sync.Pool{New: func() any { return time.NewTimer(time.Hour) }}

// TestTimersOfAnotherBubble keeps a timer in a pool, as client libraries do.
func TestTimersOfAnotherBubble(t *testing.T) {
	for range 2 {
		if err := Enter(t, func(*testing.T) {
			timer := timers.Get().(*time.Timer)
			defer timers.Put(timer)
			timer.Reset(time.Second)
			<-timer.C
		}); err != nil {
			t.Error(err)
		}
	}
}
