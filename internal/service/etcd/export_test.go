package etcd

import (
	"context"
	"os"
)

// End ends the process of a private server as somebody else would.
func (s *Server) End() error {
	p, err := os.FindProcess(s.PID())
	if err != nil {
		return err
	}
	return p.Kill()
}

// AnswersAt returns nil if the private server s answers at host.
func (s *Server) AnswersAt(ctx context.Context, host string) error {
	p := *s.own
	p.server = &Server{host: host}
	return p.answers(ctx)
}
