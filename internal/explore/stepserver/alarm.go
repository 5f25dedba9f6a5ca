package stepserver

import "time"

// An alarm is one timer for all deadlines on the clock of the bubble. A timer for each Read would
// cost more than the Read.
type alarm struct {
	timer *time.Timer
	next  time.Time // zero: not set
	ring  func()
}

// at sets the alarm for t, unless it is set for an earlier time.
func (a *alarm) at(t time.Time) {
	if !a.next.IsZero() && !t.Before(a.next) {
		return
	}
	a.next = t
	wait := max(time.Until(t), 0)
	if a.timer == nil {
		a.timer = time.AfterFunc(wait, a.ring)
		return
	}
	a.timer.Reset(wait)
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// ring wakes the Reads and ends the blocking commands with past deadlines, and sets the alarm for
// the next deadline.
func (s *Server) ring() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.alarm.next = time.Time{}
	for _, c := range s.conns {
		switch {
		case !c.reading || c.deadline.IsZero():
		case c.overdue():
			c.ready.Broadcast()
		default:
			s.alarm.at(c.deadline)
		}
	}
	s.endWaits()
}
