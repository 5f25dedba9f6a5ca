package stepserver

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// blocking executes a blocking command; if there is no data for it, the connection waits.
func (s *Server) blocking(c *conn, q *Command, e *Effect) []byte {
	wait, waits := patience(q)
	if !waits {
		return s.simple(c, q, e)
	}
	q.pinned = s.pin(c, q)
	reply, found := s.once(c, q, e)
	if found {
		return reply
	}
	e.writes(waiters)
	q.nothing = slices.Clone(reply)
	q.until = until(wait)
	if !q.until.IsZero() {
		s.alarm.at(q.until)
	}
	c.block = q
	s.blocked = append(s.blocked, q)
	e.Waits = true
	return nil
}

// once executes a blocking command without waiting. It reports whether there was data, or an error.
func (s *Server) once(c *conn, q *Command, e *Effect) (reply []byte, found bool) {
	args := q.Args
	if q.pinned != nil {
		args = q.pinned
	}
	reply = s.redis.once(c.db, args)
	s.note(q.spec, c.db, q.Args, string(reply), e)
	return reply, !isNil(nil, string(reply))
}

// serve gives the data just written to the commands that wait for it, in the order in which they
// began to wait, until none finds data.
func (s *Server) serve(e *Effect) {
	for i := 0; i < len(s.blocked); i++ {
		q := s.blocked[i]
		if !meet(e.Writes, inDatabase(q.conn.db, q.spec.keys(q.Args))) {
			continue
		}
		reply, found := s.once(q.conn, q, e)
		if !found {
			continue
		}
		e.writes(waiters)
		for _, name := range e.Writes {
			s.changed[name] = s.written
		}
		e.wakes(q.Process)
		s.release(q, reply)
		i = -1 // an earlier command may wait for the data that it moved
	}
}

// release answers a blocking command and lets its connection go on.
func (s *Server) release(q *Command, reply []byte) {
	s.unblock(q.conn)
	q.conn.send(reply)
	s.settle(q.conn)
}

// unblock ends the wait of a connection.
func (s *Server) unblock(c *conn) {
	if c.block == nil {
		return
	}
	s.blocked = slices.DeleteFunc(s.blocked, func(q *Command) bool { return q == c.block })
	c.block = nil
}

// endWaits answers the blocking commands with expired waits and sets the alarm for
// the others.
func (s *Server) endWaits() {
	now := time.Now()
	for _, q := range slices.Clone(s.blocked) {
		switch {
		case q.until.IsZero():
		case q.until.After(now):
			s.alarm.at(q.until)
		default:
			s.release(q, q.nothing)
		}
	}
}

// patience returns the longest wait of a blocking command, zero for no limit, and whether it waits
// at all.
func patience(q *Command) (wait time.Duration, waits bool) {
	at, unit := len(q.Args)-1, float64(time.Second)
	switch q.spec.name {
	case "BZMPOP":
		at = 1
	case "XREAD", "XREADGROUP":
		at = 1 + slices.IndexFunc(q.Args, func(a string) bool { return strings.EqualFold(a, "block") })
		unit = float64(time.Millisecond)
	}
	if at <= 0 || at >= len(q.Args) {
		return 0, false
	}
	n, err := strconv.ParseFloat(q.Args[at], 64)
	return time.Duration(n * unit), err == nil
}

// pin replaces the identifier $ (the last) in a blocking XREAD with its present
// value. It returns nil if there is none.
func (s *Server) pin(c *conn, q *Command) []string {
	if q.spec.name != "XREAD" || !slices.Contains(q.Args, "$") {
		return nil
	}
	args := slices.Clone(q.Args)
	keys := streams(args)
	for i, key := range keys {
		if id := &args[len(args)-len(keys)+i]; *id == "$" {
			*id = s.redis.lastID(c.db, key)
		}
	}
	return args
}
