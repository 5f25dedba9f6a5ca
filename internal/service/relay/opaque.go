package relay

// Exchange is the name of every request of [ListenOpaque].
const Exchange = "EXCHANGE"

// exchange returns the function that passes on what the client sends. The handler is asked about the
// first bytes after an answer.
func (l *link) exchange(handler Handler, forward func([]byte) bool) func([]byte) bool {
	return func(bytes []byte) bool {
		if l.asked.Load() {
			return forward(bytes)
		}
		send, lost := handler(Exchange)
		if !send {
			return false
		}
		l.pending.add(lost)
		l.asked.Store(true)
		return forward(bytes)
	}
}

// answer returns the function that passes on what the server sends.
func (l *link) answer(forward func([]byte) bool) func([]byte) bool {
	return func(bytes []byte) bool {
		if !l.asked.Swap(false) {
			return forward(bytes)
		}
		if lost := l.pending.next(); lost != nil {
			lost()
			return false
		}
		return forward(bytes)
	}
}
