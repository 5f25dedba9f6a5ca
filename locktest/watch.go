package locktest

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long, in real time, a search may go on without finishing a schedule.
const patience = time.Minute

// glance is how often, in real time, an alarm looks for signs of life. A goroutine counts as
// waiting for ever if it is seen waiting for the same mutex glances times without a sign of life,
// and no goroutine of a bubble can go on: the holder of the mutex waits for a command, and the
// command for the goroutine. On a busy machine a goroutine that can go on may do so much later.
const (
	glance  = 500 * time.Millisecond
	glances = 6
)

// An alarm watches, from outside, whether a bubble makes progress.
type alarm struct {
	signs atomic.Int64 // of life
	done  chan struct{}
	ended sync.WaitGroup
}

// watch begins to watch bubbles. It calls stuck once if they stand still.
func watch(stuck func()) *alarm {
	a := &alarm{done: make(chan struct{})}
	a.ended.Go(func() {
		tick := time.NewTicker(glance)
		defer tick.Stop()
		last, still, locked := int64(-1), 0, map[string]int{}
		for {
			select {
			case <-a.done:
				return
			case <-tick.C:
			}
			if signs := a.signs.Load(); signs != last {
				last, still, locked = signs, 0, map[string]int{}
				continue
			}
			still++
			waiters, busy := waiting()
			if busy {
				waiters = nil
			}
			locked = again(locked, waiters)
			if time.Duration(still)*glance >= patience || slices.Contains(slices.Collect(maps.Values(locked)), glances) {
				stuck()
				return
			}
		}
	})
	return a
}

// waiting lists the goroutines of bubbles that wait for a mutex, each by its number, and reports
// whether another one of a bubble can go on.
func waiting() (goroutines []string, busy bool) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for one := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		head, _, _ := bytes.Cut(one, []byte("\n"))
		if !bytes.Contains(head, []byte("synctest bubble")) {
			continue
		}
		number, state, _ := strings.Cut(string(head), " [")
		switch {
		case strings.Contains(state, "Mutex."):
			goroutines = append(goroutines, number)
		case !strings.Contains(state, "(durable)"):
			busy = true
		}
	}
	return goroutines, busy
}

// again counts in how many looks in a row each goroutine was seen.
func again(before map[string]int, now []string) map[string]int {
	count := map[string]int{}
	for _, g := range now {
		count[g] = before[g] + 1
	}
	return count
}

// wedged returns the reaction to a lock that stands still: only a panic can end a goroutine that
// waits for a mutex.
func wedged(test string) func() {
	return func() {
		panic(fmt.Sprintf("locktest: %s: the lock stands still; hint: a goroutine waits for a sync.Mutex that is held while a command is under way. Hold it for less, or give each owner its own", test))
	}
}

// seen notes a sign of life. It may be called within a bubble.
func (a *alarm) seen() { a.signs.Add(1) }

// stop ends the watch.
func (a *alarm) stop() {
	close(a.done)
	a.ended.Wait()
}
