package nats

// PID returns the number of the process of a private server.
func (s *Server) PID() int { return s.own.PID() }
