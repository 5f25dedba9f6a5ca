package stepserver

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"
)

// A Command is a command that has arrived, is the next of its connection, and waits to be run.
type Command struct {
	// Process sent it, on its Conn-th connection. Client is the number of the client within the
	// process, -1 if unknown, see Attribute.
	Process, Client, Conn int
	// Args are the command as sent, its name first.
	Args []string
	// Queued are the commands of the transaction that this EXEC runs, in order.
	Queued [][]string

	conn    *conn
	spec    *spec
	until   time.Time // end of the wait of a blocking command; zero for none
	nothing []byte    // the reply at the end of that wait
	pinned  []string  // Args, with their time-dependent identifiers resolved
	reply   []byte    // the part of its answer that RunSlow kept back
}

// Orphan reports whether the client does not wait for the reply any more, because it timed out or
// closed the connection. The command may still be run, or not.
func (c *Command) Orphan() bool {
	c.conn.server.mu.Lock()
	defer c.conn.server.mu.Unlock()
	return c.conn.closed || c.conn.unanswered
}

// Pending returns the runnable commands, one per connection, in the order of process,
// client, arguments and connection. The slice is valid until the next call.
func (s *Server) Pending() []*Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = s.pending[:0]
	for _, c := range s.conns {
		if len(c.queue) > 0 && c.block == nil {
			s.pending = append(s.pending, c.queue[0])
		}
	}
	slices.SortStableFunc(s.pending, inOrder)
	return s.pending
}

// Blocked returns the blocking commands that were run and wait for other clients, in the
// order in which they will be served.
func (s *Server) Blocked() []*Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.blocked)
}

func inOrder(a, b *Command) int {
	if a.Process != b.Process {
		return a.Process - b.Process
	}
	if a.Client != b.Client {
		return a.Client - b.Client
	}
	if byArgs := slices.Compare(a.Args, b.Args); byArgs != 0 {
		return byArgs
	}
	return cmp.Compare(a.Conn, b.Conn)
}

// Run executes a pending command and delivers the reply. It does nothing if the command
// no longer waits.
func (s *Server) Run(c *Command) Effect { return s.run(c, func(*conn) {}) }

// Executed registers a function that is called with every executed command and its effect before
// the reply is sent, so that its records precede every reaction of the client. It may read the
// server, but must not run commands.
func (s *Server) Executed(each func(*Command, Effect)) { s.executed = each }

// RunLosing executes a pending command; its reply is lost and the connection breaks.
func (s *Server) RunLosing(c *Command) Effect {
	return s.run(c, func(on *conn) { on.unanswered = true }, func(on *conn) { s.hangUp(on, io.EOF) })
}

// RunUnanswered executes a pending command; its reply is lost while the connection stays open. It
// is for a client that is killed next.
func (s *Server) RunUnanswered(c *Command) Effect {
	return s.run(c, func(on *conn) { on.unanswered = true })
}

// Cut breaks the connection of a pending or blocked command. Neither that command nor
// later ones of the connection are executed.
func (s *Server) Cut(c *Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waits(c) || c.conn.block == c {
		s.hangUp(c.conn, errReset)
	}
}

// Timeout makes the client's Read of the reply to c return os.ErrDeadlineExceeded
// at once. The command stays pending and can be run later.
func (s *Server) Timeout(c *Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if (s.waits(c) || c.conn.block == c) && !c.conn.closed {
		c.conn.late = true
		c.conn.ready.Broadcast()
	}
}

// Kill ends a process: its pending commands are dropped, the server sees its connections closed,
// and its calls of Dial, Read and Write block until Retire.
func (s *Server) Kill(process int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashed[process] = true
	for _, c := range slices.Clone(s.conns) {
		if c.process == process {
			s.suspend(c)
			s.leave(c)
		}
	}
}

// KillClient ends one client of a process that lives on: its pending commands are dropped, and its
// calls, which are known by their goroutine, block until Retire. The server sees its connection
// open.
func (s *Server) KillClient(process, client int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.threads.crashed[[2]int{process, client}] = true
	for _, c := range s.conns {
		if c.process == process && c.usedBy(client) {
			s.suspend(c)
		}
	}
}

// usedBy reports whether the client has a command under way on the connection.
func (c *conn) usedBy(client int) bool {
	if c.block != nil {
		return c.block.Client == client
	}
	return slices.ContainsFunc(c.queue, func(q *Command) bool { return q.Client == client })
}

// suspend makes calls on a connection block until Retire.
func (s *Server) suspend(c *conn) {
	c.queue, c.crashed = nil, true
	s.crashedConns = append(s.crashedConns, c)
	c.ready.Broadcast()
}

// waits reports whether c still waits to be run.
func (s *Server) waits(c *Command) bool {
	on := c.conn
	return on.block == nil && len(on.queue) > 0 && on.queue[0] == c
}

// arrive appends a command to the queue of its connection.
func (s *Server) arrive(c *conn, args []string) {
	q := &Command{Process: c.process, Client: s.threads.client(c.process), Conn: c.number,
		Args: args, conn: c, spec: specOf(args)}
	c.queue = append(c.queue, q)
	if len(c.queue) == 1 {
		s.settle(c)
	}
}

// settle executes commands that have no effect on other connections, up to one that must wait for
// the scheduler.
func (s *Server) settle(c *conn) {
	for len(c.queue) > 0 && c.block == nil {
		q := c.queue[0]
		if !c.passes(q) {
			if c.tx != nil {
				q.Queued = c.tx.queued
			}
			s.signal()
			return
		}
		c.queue = c.queue[1:]
		var nobody Effect
		c.send(s.execute(c, q, &nobody))
	}
	if len(c.queue) == 0 && c.closed {
		s.forget(c)
	}
}

// passes reports whether a command and the commands of other connections have no effect on each
// other.
func (c *conn) passes(q *Command) bool {
	switch {
	case q.reply != nil:
		return false
	case q.spec.name == "EXEC":
		return c.tx == nil // an error
	case c.tx != nil:
		return true // it is queued
	case q.spec.route == transaction:
		return q.spec.name != "WATCH"
	}
	return q.spec.route == pass
}

// run executes c. It calls around[0] on the connection before the reply, and around[1]
// after it.
func (s *Server) run(c *Command, around ...func(*conn)) Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &s.effect
	*e = Effect{Process: c.Process}
	if !s.waits(c) {
		return *e
	}
	s.redis.setTime(time.Now())
	on := c.conn
	on.queue = on.queue[1:]
	around[0](on)
	reply := c.reply
	if reply == nil {
		reply = s.execute(on, c, e)
	}
	e.Reply = text(reply)
	if s.executed != nil {
		s.mu.Unlock()
		s.executed(c, *e)
		s.mu.Lock()
	}
	if !e.Waits {
		on.send(reply)
	}
	s.settled(e)
	for _, after := range around[1:] {
		after(on)
	}
	s.settle(on)
	return *e
}

// settled notes the writes for WATCH, and serves the clients that waited for them.
func (s *Server) settled(e *Effect) {
	if len(e.Writes) == 0 {
		return
	}
	s.written++
	for _, name := range e.Writes {
		s.changed[name] = s.written
	}
	s.serve(e)
}

// execute runs one command of a connection, by its route. The reply is valid until the next
// command.
func (s *Server) execute(c *conn, q *Command, e *Effect) []byte {
	if refusal := c.refusal(q.spec); refusal != "" {
		return []byte(refusal)
	}
	if c.tx != nil && q.spec.route != transaction {
		return s.enqueue(c, q)
	}
	switch q.spec.route {
	case transaction:
		return s.transact(c, q, e)
	case messages:
		return s.message(c, q.Args, e)
	case blocks:
		return s.blocking(c, q, e)
	case runsScript:
		return s.eval(c, q, e)
	case scriptsCache:
		return s.script(q.Args, e)
	}
	return s.simple(c, q, e)
}

// simple executes a command in miniredis.
func (s *Server) simple(c *conn, q *Command, e *Effect) []byte {
	if q.spec.name == "PING" && c.listening() > 0 && !c.peer.Resp3 {
		return pong(q.Args)
	}
	reply := s.redis.command(c.peer, q.spec, q.Args)
	switch q.spec.name {
	case "SELECT":
		c.selected(q.Args, reply)
	case "QUIT":
		defer s.hangUp(c, io.EOF)
	}
	s.note(q.spec, c.db, q.Args, string(reply), e)
	return reply
}

// note adds the effect of a command to e.
func (s *Server) note(spec *spec, db int, args []string, reply string, e *Effect) {
	e.by(spec, db, args, reply)
	s.unseen = s.unseen || spec.unseen
	s.hidden = s.hidden || spec.hidden
	if !spec.rewrites || !slices.Contains(e.Writes, Everything) {
		return
	}
	for _, db := range databases(spec, db, args) {
		s.rewritten[db] = s.written + 1
		s.redis.used[db] = true
	}
}

// databases returns the databases in which a command may write keys without naming them.
func databases(spec *spec, selected int, args []string) []int {
	all := []int{selected}
	switch {
	case spec.name == "SWAPDB":
		all, args = nil, args[1:]
	case spec.name == "MOVE":
		args = args[2:]
	case spec.name == "COPY" && len(args) > 4:
		args = args[4:5]
	default:
		args = nil
	}
	for _, a := range args {
		if db, err := strconv.Atoi(a); err == nil {
			all = append(all, db)
		}
	}
	return all
}
