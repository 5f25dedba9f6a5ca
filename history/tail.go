package history

// Len returns how many calls, returns and events were recorded since Reset.
func (t *Tape) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.moments)
}

// Tail appends to into what was recorded from the n-th on, as Source would yield it,
// and returns it. The operations of Events are valid until Reset; those under way
// still change.
func (t *Tape) Tail(n int, into []Event) []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.moments[n:] {
		into = append(into, Event{m.phase, m.op})
	}
	return into
}
