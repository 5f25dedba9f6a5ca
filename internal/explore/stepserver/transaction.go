package stepserver

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// tx is an open transaction.
type tx struct {
	queued [][]string
	dirty  bool // a command could not be queued
}

// A watch is the state of a key at the time of WATCH.
type watch struct {
	db      int
	key     string
	at      uint64 // Server.changes then
	existed bool
}

// transact is MULTI, EXEC, DISCARD, WATCH and UNWATCH.
func (s *Server) transact(c *conn, q *Command, e *Effect) []byte {
	if q.spec.name != "WATCH" && len(q.Args) > 1 || q.spec.name == "WATCH" && len(q.Args) < 2 {
		return c.refuse(q)
	}
	switch q.spec.name {
	case "MULTI":
		return c.multi()
	case "EXEC":
		return s.exec(c, e)
	case "DISCARD":
		if c.tx == nil {
			return []byte("-ERR DISCARD without MULTI\r\n")
		}
		c.tx, c.watched = nil, nil
	case "WATCH":
		return s.watch(c, q.Args[1:], e)
	case "UNWATCH":
		if c.tx != nil {
			return s.enqueue(c, q)
		}
		c.watched = nil
	}
	return []byte(replyOK)
}

// refuse answers a command with the wrong number of arguments. EXEC ends the
// transaction nevertheless.
func (c *conn) refuse(q *Command) []byte {
	switch {
	case q.spec.name == "EXEC":
		c.tx, c.watched = nil, nil
		return []byte("-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command\r\n")
	case c.tx != nil:
		c.tx.dirty = true
	}
	return wrongNumber(q.spec.name)
}

func (c *conn) multi() []byte {
	if c.tx != nil {
		return []byte("-ERR MULTI calls can not be nested\r\n")
	}
	c.tx = &tx{}
	return []byte(replyOK)
}

// watch records the state of the keys.
func (s *Server) watch(c *conn, keys []string, e *Effect) []byte {
	if c.tx != nil {
		return []byte("-ERR WATCH inside MULTI is not allowed\r\n")
	}
	if c.watched == nil {
		c.watched = map[string]watch{}
	}
	names := inDatabase(c.db, keys)
	e.reads(names...)
	for i, name := range names {
		if _, already := c.watched[name]; !already {
			c.watched[name] = watch{c.db, keys[i], s.written, s.redis.exists(c.db, keys[i])}
		}
	}
	return []byte(replyOK)
}

// intact reports whether a watched key was neither written nor expired since.
func (s *Server) intact(w watch, name string) bool {
	return s.changed[name] <= w.at && s.rewritten[w.db] <= w.at && (!w.existed || s.redis.exists(w.db, w.key))
}

// enqueue adds a command to the transaction if miniredis would.
func (s *Server) enqueue(c *conn, q *Command) []byte {
	answer := string(s.redis.wouldQueue(q.Args))
	if answer == replyQueued {
		c.tx.queued = append(c.tx.queued, q.Args)
	} else {
		c.tx.dirty = true
	}
	return []byte(answer)
}

// exec runs the transaction as one step.
func (s *Server) exec(c *conn, e *Effect) []byte {
	begun := c.tx
	if begun == nil {
		return []byte("-ERR EXEC without MULTI\r\n")
	}
	names := slices.Sorted(maps.Keys(c.watched))
	e.reads(names...)
	intact := !slices.ContainsFunc(names, func(name string) bool { return !s.intact(c.watched[name], name) })
	c.tx, c.watched = nil, nil
	switch {
	case begun.dirty:
		return []byte("-EXECABORT Transaction discarded because of previous errors.\r\n")
	case !intact:
		return []byte(replyAborted)
	}
	replies := appendLen(nil, '*', len(begun.queued))
	for _, args := range begun.queued {
		replies = append(replies, s.within(c, args, e)...)
	}
	return replies
}

// within executes one command of a transaction or script: a command that would
// block finds nothing instead.
func (s *Server) within(c *conn, args []string, e *Effect) []byte {
	q := &Command{Process: c.process, Args: args, conn: c, spec: specOf(args)}
	if q.spec.route == blocks {
		if _, waits := patience(q); waits {
			reply, _ := s.once(c, q, e)
			return reply
		}
	}
	return s.execute(c, q, e)
}

// selected records the connection's new database.
func (c *conn) selected(args []string, reply []byte) {
	if string(reply) == replyOK {
		c.db, _ = strconv.Atoi(args[1])
		c.server.redis.used[c.db] = true
	}
}

// until is the end of a wait that begins now; zero is never.
func until(wait time.Duration) time.Time {
	if wait <= 0 {
		return time.Time{}
	}
	return time.Now().Add(wait)
}
