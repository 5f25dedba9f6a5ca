package locktest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long, in real time, a search may go on without a schedule coming
// to its end.
const patience = time.Minute

// An alarm looks, from outside the bubble, after what goes on within.
type alarm struct {
	signs atomic.Int64 // of life
	done  chan struct{}
	ended sync.WaitGroup
}

// watch begins to look after bubbles. It calls stuck when they stand still, once.
func watch(stuck func()) *alarm {
	a := &alarm{done: make(chan struct{})}
	a.ended.Go(func() {
		tick := time.NewTicker(patience)
		defer tick.Stop()
		for last := int64(-1); ; {
			select {
			case <-a.done:
				return
			case <-tick.C:
			}
			signs := a.signs.Load()
			if signs == last {
				stuck()
				return
			}
			last = signs
		}
	})
	return a
}

// wedged is what to do about a lock that stands still: nothing else than a panic
// can end a goroutine that waits for a mutex.
func wedged(test string) func() {
	return func() {
		panic(fmt.Sprintf("locktest: %s: the lock stands still for %v; hint: a goroutine may wait for a sync.Mutex that is held while a command is under way", test, patience))
	}
}

// seen notes a sign of life. It may be called within a bubble.
func (a *alarm) seen() { a.signs.Add(1) }

// stop ends the watch.
func (a *alarm) stop() {
	close(a.done)
	a.ended.Wait()
}
