package inject

import "sync"

// A signal tells waiting goroutines that an event has happened. Its zero value is ready, and it
// is safe for concurrent use.
type signal struct {
	mu   sync.Mutex
	told chan struct{} // nil while nobody waits
}

// next returns a channel that is closed when the event happens next.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil {
		s.told = make(chan struct{})
	}
	return s.told
}

// tell announces the event.
func (s *signal) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told != nil {
		close(s.told)
		s.told = nil
	}
}
