package etcd

import "context"

// AnswersAt returns nil if the private server s answers at host.
func (s *Server) AnswersAt(ctx context.Context, host string) error {
	p := *s.own
	p.server = &Server{host: host}
	return p.answers(ctx)
}
