package stepserver

import "slices"

// RunSlow executes a pending command but holds its reply back: the command stays pending, is
// Answered, and Run delivers the reply. If the command blocks or is Answered already, RunSlow does
// the same as Run.
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

// Answered reports whether RunSlow ran the command, so that only its reply is missing.
func (c *Command) Answered() bool {
	c.conn.server.mu.Lock()
	defer c.conn.server.mu.Unlock()
	return c.reply != nil
}
