package checker

import (
	"fmt"
	"math"

	"github.com/lockbench/lockbench/history"
)

// The occupancy monitor of the simulator. It is independent of the checker: it asks the
// clients whether they are inside, and the server whether they should be.

// A wrong is the mutation's effect on an owner: without it, client would hold the key up to the
// time until, in ticks. It occurred in a release or extend, under the lease requested at since.
type wrong struct {
	client       int32
	until, since int64
}

// An overlap is that two clients were inside at once since the mutation let one in.
type overlap struct {
	at     int64 // in ticks
	inside int32 // was so already
	let    int32 // was let in
	// forgot: the server forgot its state since one of them asked for the key.
	forgot bool
	// concurrentRefusals: a third client's request may have acted on one of the grants.
	beside bool
}

func (o overlap) String() string {
	return fmt.Sprintf("%c and %c at %d", 'A'+o.inside-1, 'A'+o.let-1, o.at)
}

// robbed records that the owner loses the key by the mutation.
func (s *lockServer) robbed() {
	s.wronged = wrong{s.owner, math.MaxInt64, s.since}
	s.owner = 0
}

// shortened sets the end of the owner's lease; an earlier end than before is the mutation's.
func (s *lockServer) shortened(end int64) {
	if end < s.until {
		s.promised, s.cutSince = s.until, s.since
	}
	s.until = end
}

// occupancy is a client's belief.
type occupancy struct {
	// sure is the time until which the client is inside, in ticks by its own clock: from a grant
	// or a successful extend to the end of its lease, or its next call.
	sure    int64
	flying  int // number of its own calls under way; crowded: one of them began beside another
	crowded bool
	asked   int64 // call of the acquire that began its hold
	// sends is the number of releases, extends and renewals under way, which may act on a
	// meanwhile granted hold of another; beside means that the client asked for the key while
	// another had one under way, or one without an answer.
	sends  int
	beside bool
	doubts bool // a call of the client got no answer: it may act at any time
}

// calls notes that the client begins an operation. It is not sure any more, unless it works.
func (c *simClient) calls(op *history.Op) {
	switch op.Kind {
	case history.Read, history.Write:
		return
	case history.Acquire:
		if op.Hold != c.hold {
			c.asked, c.beside = c.w.now, false
		}
		for _, other := range c.w.clients {
			c.beside = c.beside || other != c && (other.sends > 0 || other.doubts)
		}
	case history.Release, history.Extend, history.Renew:
		c.sends++
		for _, other := range c.w.clients {
			other.beside = other.beside || other != c && other.busy != nil && other.busy.Kind == history.Acquire
		}
	}
	c.sure = 0
	if op.Kind < history.Lost {
		c.crowded = c.flying > 0
		c.flying++
	}
}

// answered notes that op returned.
func (c *simClient) answered(op *history.Op) {
	switch op.Kind {
	case history.Read, history.Write:
		return
	case history.Release, history.Extend, history.Renew:
		c.sends--
	}
	c.flying--
	c.doubts = c.doubts || op.Outcome == history.Unknown
}

// believes notes that the client was granted a lease of ttl, zero for one that does not end,
// that lasts from then.
func (c *simClient) believes(from, ttl int64) {
	if c.flying > 0 || c.crowded || c.doubts { // which may change it
		return
	}
	if c.sure = from + ttl; ttl == 0 {
		c.sure = math.MaxInt64
	}
}

// entered records that the client was granted the key by op, with the mutation's part in it. It is
// not sure of the hold if it does not know when the lease began.
func (c *simClient) entered(op *history.Op, over wrong) {
	if op.Attempt != history.NoStamp {
		c.believes(op.Attempt/tick, op.Asked/tick)
	}
	if over.client == 0 || c.sure <= c.w.now {
		return
	}
	other := c.w.client(over.client)
	if other == nil || other.sure <= c.w.now {
		return
	}
	forgot := min(c.asked, other.asked, over.since) <= c.w.forgot
	c.w.overlaps = append(c.w.overlaps, overlap{c.w.now, other.id, c.id, forgot, c.beside || other.beside})
}

// under returns a call to the server that acts under g.
func (c *simClient) under(g grip, act func(again bool)) func(bool) {
	return func(again bool) {
		c.w.server.since = g.asked
		act(again)
		c.w.server.since = math.MaxInt64
	}
}

// forgets notes that the server forgets until then.
func (w *world) forgets(until int64) { w.forgot = max(w.forgot, until) }

// client returns the one with this id; the probe is none.
func (w *world) client(id int32) *simClient {
	if id < 1 || int(id) > len(w.clients) {
		return nil
	}
	return w.clients[id-1]
}
