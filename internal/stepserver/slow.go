package stepserver

import "slices"

// RunSlow executes a pending command. The reply is on its way for as long as it
// likes: the command stays pending, Answered, and Run delivers what it was
// answered. To a command that blocks it does what Run does, as to one that is
// Answered already.
func (s *Server) RunSlow(c *Command) Effect {
	if c.Answered() {
		return s.Run(c)
	}
	return s.run(c, func(on *conn) { on.slow = c }, func(on *conn) {
		on.slow = nil
		if c.reply != nil {
			on.queue = slices.Insert(on.queue, 0, c)
		}
	})
}

// Answered reports whether the command was run by RunSlow, and only its reply has
// to arrive.
func (c *Command) Answered() bool {
	c.conn.server.mu.Lock()
	defer c.conn.server.mu.Unlock()
	return c.reply != nil
}
