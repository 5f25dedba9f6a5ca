package synthetic

import "github.com/lockbench/lockbench/history"

// The share of requests that take effect although they are not answered: few
// acquires, or all locks would be held by nobody.
const (
	ghostAcquires = 1.0 / 16
	ghostReleases = 15.0 / 16
)

func (g *world) acquire(c *client, lost bool) {
	c.holds++
	op := &g.op
	op.Attempts, op.Asked, op.Attempt = 1, g.ttl, op.Call
	op.Hold = int64(c.id)<<32 | c.holds
	l := &g.locks[c.lock]
	switch {
	case lost:
		op.Outcome = history.Unknown
		if !l.heldAt(g.now) && g.Float64() < ghostAcquires {
			l.holder, l.hold, l.expires = c.id, op.Hold, g.now+g.ttl
		}
		g.rest(c, g.draw(think))
	case g.due() && g.plant(c):
		op.Key = g.locks[c.lock].name
	case l.heldAt(g.now):
		op.Outcome, op.Hold = history.Refused, 0
		g.rest(c, g.draw(think))
	default:
		g.grant(c)
		pause := g.draw(g.use)
		if g.Uint64()%4096 == 0 { // the hold outlives its lease
			pause = g.ttl + g.draw(g.ttl)
		}
		g.next(c, g.doing(), pause)
	}
}

// doing is a client's next request for its lock.
func (g *world) doing() history.Kind {
	if g.Uint64()%8 == 0 {
		return history.Extend
	}
	return history.Release
}

// grant gives c its requested lock.
func (g *world) grant(c *client) {
	op, l := &g.op, &g.locks[c.lock]
	op.Outcome, op.Granted = history.OK, g.ttl
	l.holder, l.hold, l.expires = c.id, op.Hold, g.now+g.ttl
	c.hold, c.granted, c.until = op.Hold, op.Return, op.Call+g.ttl
}

// holds reports whether the server knows c as the holder.
func (g *world) holds(c *client) bool {
	l := &g.locks[c.lock]
	return l.hold == c.hold && l.heldAt(g.now)
}

func (g *world) extend(c *client, lost bool) {
	op, l := &g.op, &g.locks[c.lock]
	op.Asked = g.ttl
	held := g.holds(c)
	if held && (!lost || g.Float64() < ghostReleases) {
		l.expires = g.now + g.ttl
	}
	switch {
	case lost:
		op.Outcome = history.Unknown
	case !held:
		op.Outcome = history.LossReported
		g.rest(c, g.draw(think))
		return
	default:
		op.Outcome, op.Attempt, op.Granted = history.OK, op.Call, g.ttl
		c.until = op.Call + g.ttl
	}
	g.next(c, history.Release, g.draw(g.use))
}

func (g *world) release(c *client, lost bool) {
	held := g.holds(c)
	if held && (!lost || g.Float64() < ghostReleases) {
		g.locks[c.lock].holder = -1
	}
	switch {
	case lost:
		g.op.Outcome = history.Unknown
	case held:
		g.op.Outcome = history.OK
	default:
		g.op.Outcome = history.LossReported
	}
	g.rest(c, g.draw(think))
}
