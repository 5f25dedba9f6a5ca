package stepserver

import (
	"slices"
	"strings"
	"time"
)

// Ends appends the expiry times of keys to ends, by the bubble's clock, in no order.
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

// Lacks returns the commands sent so far that the server does not know, in upper case
// and in order of appearance, ten at most.
func (s *Server) Lacks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.redis.lacks)
}

// Has reports whether the name of a key of database 0 contains part.
func (s *Server) Has(part string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.redis.redis.DB(0).Keys(), func(key string) bool { return strings.Contains(key, part) })
}
