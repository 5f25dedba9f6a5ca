package stepserver

import (
	"slices"
	"sync"
	"time"
)

// A Server is one embedded server. Its methods are safe for the
// goroutines of the bubble it was made in; those that run, drop or cut commands are
// meant for one scheduler.
type Server struct {
	mu      sync.Mutex // guards all that follows
	redis   *store
	scripts scripts
	// conns are those that are open, and those closed by a client that had a
	// command under way; sorted by process and number.
	conns    []*conn
	dialled  map[int]int // connections so far, by process
	blocked  []*Command  // in the order they began to wait
	arrived  chan struct{}
	executed func(*Command, Effect)
	threads  threads
	alarm    alarm
	closed   bool
	changes
	comparison
	crashes
	reused
}

// Changes are when names were last written, for WATCH. Written only rises between two Resets.
type changes struct {
	changed   map[string]uint64 // by name as in Effect
	written   uint64            // how many writes there were
	rewritten map[int]uint64    // by database: when a command wrote keys there without naming them
}

// A comparison is what Fingerprint goes by: how values are made comparable, and what it
// does not see.
type comparison struct {
	canonical      func(string) string
	unseen, hidden bool
}

// Crashes are the processes and connections whose clients died. Their calls wait at parked
// until retired is set.
type crashes struct {
	parked       *sync.Cond
	crashed      map[int]bool // by process
	crashedConns []*conn
	retired      bool
}

// Reused is memory that one call leaves to the next.
type reused struct {
	pending []*Command
	effect  Effect
}

// New starts an empty server. Call it in the bubble that will use it.
func New() (*Server, error) {
	redis, err := newStore()
	if err != nil {
		return nil, err
	}
	s := &Server{
		redis:   redis,
		scripts: scripts{known: map[string]*known{}},
		dialled: map[int]int{},
		arrived: make(chan struct{}, 1),
		changes: changes{changed: map[string]uint64{}, rewritten: map[int]uint64{}},
		crashes: crashes{crashed: map[int]bool{}},
	}
	s.parked = sync.NewCond(&s.mu)
	s.threads.reset()
	s.alarm.ring = s.ring
	return s, nil
}

// Arrived is signalled when a command comes to wait. Empty it before
// sleeping: one signal stands for any number of commands.
func (s *Server) Arrived() <-chan struct{} { return s.arrived }

func (s *Server) signal() {
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}

// Advance tells the server that virtual time is now, so that leases that are over
// are gone. It need not be called before Run, Leases or Fingerprint, which read the
// clock themselves.
func (s *Server) Advance(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis.setTime(now)
}

// ScriptFlush forgets every script, as SCRIPT FLUSH does.
func (s *Server) ScriptFlush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.scripts.known)
}

// Restart is a restart without persistence: no keys, no scripts, and every
// connection broken. What was pending is lost unexecuted.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis.flush()
	clear(s.scripts.known)
	for _, c := range slices.Clone(s.conns) {
		s.hangUp(c, errReset)
	}
}

// Retire ends the wait of crashed processes: their calls return errors from now on. It is
// to be called at the end of a schedule, before their goroutines are joined.
func (s *Server) Retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
}

// retire breaks the connections of crashed processes and lets their calls return.
func (s *Server) retire() {
	for _, c := range s.crashedConns {
		c.crashed = false
		s.hangUp(c, errCrashed)
	}
	s.crashedConns = s.crashedConns[:0]
	s.retired = true
	s.parked.Broadcast()
}

// Reset makes the server empty for the next schedule: keys, scripts but those that
// KeepScripts noted, what is pending, transactions begun and which client is which thread. Connections that no fault
// affected stay usable; their subscriptions and selected databases stay too. Crashed processes
// are forgotten: it must not be called before Retire if there are any.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis.setTime(time.Now())
	s.redis.flush()
	s.scripts.reset()
	for _, c := range slices.Clone(s.conns) {
		c.queue, c.block, c.tx, c.watched = nil, nil, nil, nil
		c.late = false
		if c.closed || c.unanswered {
			s.hangUp(c, errReset)
		}
	}
	s.renumber()
	s.blocked = s.blocked[:0]
	if s.hidden {
		s.redis.redis.Seed(1)
	}
	clear(s.changed)
	clear(s.rewritten)
	clear(s.crashed)
	s.retired, s.unseen = false, false
	s.threads.reset()
}

// renumber counts each process's connections anew, so that a schedule does not depend
// on how many the schedules before it broke.
func (s *Server) renumber() {
	clear(s.dialled)
	for _, c := range s.conns { // sorted
		s.dialled[c.process]++
		c.number = s.dialled[c.process]
	}
}

// Close ends the server; every call on its connections returns an error. It leaves
// no goroutine behind.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.retire()
	for _, c := range slices.Clone(s.conns) {
		s.hangUp(c, errReset)
	}
	s.alarm.stop()
	s.scripts.close()
	s.mu.Unlock()
	s.redis.close()
}
