package stepserver

import (
	"slices"
	"sync"
	"time"
)

// A Server is one embedded server. Its methods are safe for the goroutines of the bubble in which
// it was made; only one scheduler may call methods that run, drop or cut commands.
type Server struct {
	mu      sync.Mutex // guards all fields below
	redis   *store
	scripts scripts
	// conns are the open connections, and those that a client closed with a command under way;
	// sorted by process and number.
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

// changes has the times of writes, for WATCH. A time is a number of writes; written only rises
// between two Resets.
type changes struct {
	changed   map[string]uint64 // last write, by name as in Effect
	written   uint64            // number of writes so far
	rewritten map[int]uint64    // by database: time of the last write to keys that the command did not name
}

// A comparison has the parameters of Fingerprint: a function that makes values comparable, and
// whether there is state that Fingerprint does not see.
type comparison struct {
	canonical      func(string) string
	unseen, hidden bool
}

// crashes are the processes and connections of dead clients. Their calls wait on parked until
// retired is set.
type crashes struct {
	parked       *sync.Cond
	crashed      map[int]bool // by process
	crashedConns []*conn
	retired      bool
}

// reused is memory that calls use one after the other.
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
		scripts: scripts{cached: map[string]*cachedScript{}},
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

// Arrived returns a channel that receives when a command has begun to wait. Empty it before
// sleeping: one value stands for any number of commands.
func (s *Server) Arrived() <-chan struct{} { return s.arrived }

func (s *Server) signal() {
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}

// Advance tells the server that virtual time is now, so that expired keys are gone. It need not be
// called before Run, Leases or Fingerprint, which read the clock themselves.
func (s *Server) Advance(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis.setTime(now)
}

// ScriptFlush forgets every script, as SCRIPT FLUSH does.
func (s *Server) ScriptFlush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.scripts.cached)
}

// Restart restarts the server without persistence: no keys, no scripts, and every connection
// broken. Pending commands are lost unexecuted.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis.flush()
	clear(s.scripts.cached)
	for _, c := range slices.Clone(s.conns) {
		s.hangUp(c, errReset)
	}
}

// Retire ends the calls of dead clients and processes: from now on they return errors. Call it at
// the end of a schedule, before joining their goroutines.
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

// Reset empties the server for the next schedule: keys, scripts that are not kept (see
// KeepScripts), pending commands, transactions, and the assignment of clients to threads.
// Connections that no fault affected stay usable, with their subscriptions and selected databases.
// Crashed processes are forgotten: it must not be called before Retire if there are any.
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

// renumber numbers the connections of each process anew, so that a schedule does not depend on the
// number of connections that earlier schedules broke.
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
