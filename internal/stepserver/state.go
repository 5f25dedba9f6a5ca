package stepserver

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Lease is a key that ends by itself.
type Lease struct {
	Key string    // as in Effect
	End time.Time // by the bubble's clock
}

// Leases returns the keys that have a TTL, the one that ends first first.
func (s *Server) Leases() (leases []Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis.setTime(time.Now())
	for db := range s.redis.used {
		in := s.redis.redis.DB(db)
		for _, key := range in.Keys() {
			if ttl := in.TTL(key); ttl > 0 {
				leases = append(leases, Lease{inDatabase(db, []string{key})[0], s.redis.now.Add(ttl)})
			}
		}
	}
	slices.SortFunc(leases, func(a, b Lease) int {
		return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.Key, b.Key))
	})
	return leases
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
