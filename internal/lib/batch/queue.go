// Package batch hands values on to another goroutine in batches, so that they are
// produced and consumed at the same time.
package batch

// A Queue passes on values in order. Add and Wait are called by one goroutine.
type Queue[T any] struct {
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
// slice. The goroutine ends with [Queue.Wait].
func New[T any](do func([]T)) *Queue[T] {
	q := &Queue[T]{
		batch: make([]T, 0, batchLen),
		full:  make(chan []T, batches),
		empty: make(chan []T, batches+1), // room for all after the last batch has been passed on
		done:  make(chan struct{}),
	}
	for range batches {
		q.empty <- make([]T, 0, batchLen)
	}
	go func() {
		defer close(q.done)
		for b := range q.full {
			do(b)
			clear(b) // releases the memory that the values refer to
			q.empty <- b[:0]
		}
	}()
	return q
}

// Add passes v on, and blocks if the other goroutine is a few batches behind.
func (q *Queue[T]) Add(v T) {
	q.batch = append(q.batch, v)
	if len(q.batch) == batchLen {
		q.full <- q.batch
		q.batch = <-q.empty
	}
}

// Wait passes on the rest and returns when all is done. Nothing may be added after it;
// waiting again does nothing.
func (q *Queue[T]) Wait() {
	if q.stopped {
		return
	}
	q.stopped = true
	q.full <- q.batch
	close(q.full)
	<-q.done
}
