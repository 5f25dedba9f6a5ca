package synthetic

import "github.com/lockbench/lockbench/history"

// due reports whether it is time for the next violation.
func (g *world) due() bool {
	n := int64(len(g.planted))
	return n < g.Violations && g.done >= (2*n+1)*(g.Ops/(2*g.Violations))
}

// margin is the distance of a violation's stamps, in ns, which makes it certain.
const margin = 1000

// plant grants c, which acquires, a lock that another client holds. It returns
// false if no lock is held for long enough now.
func (g *world) plant(c *client) bool {
	victim := g.victim(c)
	if victim == nil {
		return false
	}
	c.lock = victim.lock
	g.grant(c)
	g.planted = append(g.planted, Violation{Key: g.locks[c.lock].name, At: g.op.Return, First: victim.id, Second: c.id})
	// The two must not meet a third client. So the victim is told of its loss at
	// its next request, and the other keeps the lock until then.
	victim.sure = true
	g.next(c, history.Release, g.draw(g.use))
	c.at = max(c.at, victim.at+margin+c.trip)
	return true
}

// victim is a client with a hold, known to itself and to the server, that lasts for
// a while after c was granted the same lock; nil if there is none.
func (g *world) victim(c *client) *client {
	soon := g.op.Return + margin
	for i := range g.clients {
		v := &g.clients[i]
		holds := v != c && v.hold != 0 && g.holds(v) && v.granted < g.now
		if holds && v.at-v.trip > soon && v.until > soon && v.at < g.now+g.ttl/2 {
			return v
		}
	}
	return nil
}
