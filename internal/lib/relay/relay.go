// Package relay hands values on to another goroutine in batches, so that they are
// produced and consumed at the same time.
package relay

// A Relay passes on values in order. Add and Wait are called by one goroutine.
type Relay[T any] struct {
	batch   []T
	full    chan []T
	empty   chan []T
	done    chan struct{}
	stopped bool
}

// Batches are long enough that handing one over costs little per value, and few enough
// that waiting values take little memory.
const (
	batchLen = 2048
	batches  = 4
)

// New starts a goroutine that passes each batch of values to do, which must not keep the
// slice. The goroutine ends with [Relay.Wait].
func New[T any](do func([]T)) *Relay[T] {
	r := &Relay[T]{
		batch: make([]T, 0, batchLen),
		full:  make(chan []T, batches),
		empty: make(chan []T, batches+1), // room for all after the last batch has been passed on
		done:  make(chan struct{}),
	}
	for range batches {
		r.empty <- make([]T, 0, batchLen)
	}
	go func() {
		defer close(r.done)
		for b := range r.full {
			do(b)
			clear(b) // releases the memory that the values refer to
			r.empty <- b[:0]
		}
	}()
	return r
}

// Add passes v on, and blocks if the other goroutine is a few batches behind.
func (r *Relay[T]) Add(v T) {
	r.batch = append(r.batch, v)
	if len(r.batch) == batchLen {
		r.full <- r.batch
		r.batch = <-r.empty
	}
}

// Wait passes on the rest and returns when all is done. Nothing may be added after it;
// waiting again does nothing.
func (r *Relay[T]) Wait() {
	if r.stopped {
		return
	}
	r.stopped = true
	r.full <- r.batch
	close(r.full)
	<-r.done
}
