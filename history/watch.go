package history

// A watch waits for the loss of one lease, records it, and only then lets the
// client see it. All methods but wait are called by the client's goroutine; a nil
// watch does nothing.
type watch struct {
	lease *lease
	inner <-chan struct{}
	lost  chan struct{} // what the client sees
	seen  bool          // the loss was recorded
	stop  chan struct{} // nil while nobody waits
	ended chan struct{}
}

// newWatch returns a watch of inner, nil when inner is.
func newWatch(l *lease, inner <-chan struct{}) *watch {
	if inner == nil {
		return nil
	}
	w := &watch{lease: l, inner: inner, lost: make(chan struct{})}
	w.start()
	return w
}

// start begins to wait, unless the loss is known or the recording over.
func (w *watch) start() {
	if w == nil || w.seen {
		return
	}
	c := w.lease.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sealed {
		return
	}
	if c.quit == nil {
		c.quit = make(chan struct{})
	}
	c.watchers.Add(1)
	w.stop, w.ended = make(chan struct{}), make(chan struct{})
	go w.wait(c.quit)
}

// wait lives until the loss, the release or the end of the recording.
func (w *watch) wait(quit <-chan struct{}) {
	defer w.lease.client.watchers.Done()
	defer close(w.ended)
	select {
	case <-w.inner:
		w.record()
	case <-w.stop:
	case <-quit:
	}
}

// end stops waiting. A loss that was already there is recorded first: it was
// known before the operation that ends the watch.
func (w *watch) end() {
	if w == nil || w.stop == nil {
		return
	}
	close(w.stop)
	<-w.ended
	w.stop = nil
	if w.seen {
		return
	}
	select {
	case <-w.inner:
		w.record()
	default:
	}
}

func (w *watch) record() {
	w.seen = true
	w.lease.client.event(Op{Kind: Lost, Key: w.lease.key, Hold: w.lease.hold})
	close(w.lost)
}
