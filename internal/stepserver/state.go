package stepserver

import (
	"slices"
	"strings"
	"time"
)

// Ends appends to ends when keys end by themselves, by the bubble's clock, in no order.
func (s *Server) Ends(ends []time.Time) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis.setTime(time.Now())
	for db := range s.redis.used {
		in := s.redis.redis.DB(db)
		for _, key := range in.Keys() {
			if ttl := in.TTL(key); ttl > 0 {
				ends = append(ends, s.redis.now.Add(ttl))
			}
		}
	}
	return ends
}

// Lacks returns the commands that were sent so far and that the server does not know, in
// upper case and in order of sight, ten at most.
func (s *Server) Lacks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.redis.lacks)
}

// Has reports whether a key of database 0 has part in its name.
func (s *Server) Has(part string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.redis.redis.DB(0).Keys(), func(key string) bool { return strings.Contains(key, part) })
}
