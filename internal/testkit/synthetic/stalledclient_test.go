package synthetic_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
)

// stalledClient is one owner: it acquires, works, and releases, again and again.
type stalledClient struct {
	w     *stalledWorld
	id    int32
	key   int
	hold  int64 // the one that it has, or asks for
	holds int64
	lost  bool // it was told
	works bool
}

// operation begins one.
func (c *stalledClient) operation(kind history.Kind) *history.Op {
	op := &history.Op{
		Kind: kind, Key: fmt.Sprint("job-", c.key+1), Client: c.id, Stream: c.id, Hold: c.hold,
		Call: c.w.now, Return: history.Never, Attempt: history.NoStamp,
	}
	c.w.ops = append(c.w.ops, op)
	return op
}

// ended records the outcome of op.
func (c *stalledClient) ended(op *history.Op, outcome history.Outcome, note string) {
	op.Return, op.Outcome, op.Note = c.w.now, outcome, note
}

// later schedules an action of the client in d ns.
func (c *stalledClient) later(d int64, do func()) { c.w.at(&c.w.driver, c.w.now+d, do) }

func (c *stalledClient) rest() { c.later(c.w.Int64N(int64(5*time.Millisecond)), c.acquire) }

// acquire begins an acquire, which tries repeatedly until its wait is over. If no answer comes
// in time it fails: with the wait, or with the try.
func (c *stalledClient) acquire() {
	w := c.w
	if w.over() {
		return
	}
	c.key, c.holds = w.IntN(stalledKeys), c.holds+1
	c.hold = int64(c.id+1)<<32 | c.holds
	op := c.operation(history.Acquire)
	op.Asked, op.Wait = w.lease, w.wait
	c.later(w.wait, func() { c.gaveUp(op) })
	c.try(op)
}

// gaveUp ends op, if it is not over, with an unknown outcome of its last try.
func (c *stalledClient) gaveUp(op *history.Op) {
	if op.Return == history.Never {
		c.ended(op, history.Unknown, "error")
		c.rest()
	}
}

func (c *stalledClient) try(op *history.Op) {
	w, key, hold, granted, refused := c.w, c.key, c.hold, false, false
	op.Attempts++
	op.Attempt = w.now
	if w.tries > 0 {
		attempt := op.Attempts
		c.later(w.tries, func() {
			if op.Attempts == attempt {
				c.gaveUp(op)
			}
		})
	}
	w.ask(func() { granted, refused = w.grants(key, hold) }, func() {
		switch {
		case op.Return != history.Never:
		case w.flushed && w.faulty(FailsFlushed, 20):
			c.ended(op, history.Unknown, "noscript")
			c.rest()
		case granted:
			op.Granted = w.lease
			c.ended(op, history.OK, "")
			c.work(hold)
		case refused || w.now-op.Call > w.wait/2:
			op.Hold = 0
			c.ended(op, history.Refused, "")
			c.rest()
		default:
			c.later(int64(10*time.Millisecond), func() {
				if op.Return == history.Never {
					c.try(op)
				}
			})
		}
	})
}

// grants makes the server grant a key or refuse it, for good if the fault refuses free keys.
func (w *stalledWorld) grants(key int, hold int64) (granted, refused bool) {
	k := &w.keys[key]
	held := k.owner != 0 && w.now < k.expires
	switch {
	case !held && w.faulty(RefusesFree, 20):
		return false, true
	case held && !w.faulty(GrantsHeld, 50):
		return false, false
	}
	k.wronged = held || k.wronged && k.owner == 0
	k.owner, k.expires = hold, w.now+w.lease
	return true, false
}

// work is the client's work under a grant. One hold in four outlasts its lease.
func (c *stalledClient) work(hold int64) {
	w := c.w
	c.lost = false
	c.enter()
	if w.Fault != NeverRenews {
		c.renewLater(hold)
	}
	lasts := w.Int64N(int64(10 * time.Millisecond))
	if w.IntN(4) == 0 {
		lasts = w.lease + w.Int64N(3*w.lease/2)
	}
	c.access(hold, history.Read, func() {
		c.later(lasts, func() {
			c.access(hold, history.Write, func() { c.release(hold) })
		})
	})
}

// enter and leave are the events of an occupancy monitor.
func (c *stalledClient) enter() {
	c.works = true
	if len(c.w.inside[c.key]) > 0 {
		c.w.overlaps++
		if k := &c.w.keys[c.key]; k.wronged && k.owner == c.hold {
			c.w.harmed++
		}
	}
	c.w.inside[c.key] = append(c.w.inside[c.key], int(c.id))
}

func (c *stalledClient) leave() {
	if c.works {
		c.works = false
		c.w.inside[c.key] = slices.DeleteFunc(c.w.inside[c.key], func(id int) bool { return id == int(c.id) })
	}
}

// access reads or writes the record, unless the client knows that it lost the key.
func (c *stalledClient) access(hold int64, kind history.Kind, then func()) {
	w := c.w
	if c.lost {
		then()
		return
	}
	op, k := c.operation(kind), &w.keys[c.key]
	w.ask(func() {
		op.Base = k.version
		if kind == history.Write {
			k.version++
		}
		op.Version = k.version
	}, func() {
		c.ended(op, history.OK, "")
		then()
	})
}

// renewLater renews a hold while it is the client's.
func (c *stalledClient) renewLater(hold int64) {
	w, after := c.w, c.w.lease/3
	if w.Fault == RenewsLate {
		after = w.lease + w.lease/20
	}
	c.later(after, func() {
		if c.hold == hold && c.works {
			c.renew(hold)
		}
	})
}

func (c *stalledClient) renew(hold int64) {
	w, key, op, held := c.w, c.key, c.operation(history.Renew), false
	if w.tries > 0 {
		c.later(w.tries, func() {
			if op.Return == history.Never {
				c.ended(op, history.Unknown, "timeout")
				if c.hold == hold && c.works {
					c.renew(hold)
				}
			}
		})
	}
	w.ask(func() { held = w.holds(key, hold, w.now+w.lease) }, func() {
		switch {
		case op.Return != history.Never:
		case held:
			op.Attempt, op.Granted = op.Call, w.lease
			c.ended(op, history.OK, "")
			c.renewLater(hold)
		default:
			c.ended(op, history.LossReported, "")
			c.told(hold)
		}
	})
}

// told informs the client of its loss, by its channel.
func (c *stalledClient) told(hold int64) {
	if c.hold != hold || !c.works {
		return
	}
	c.lost = true
	c.leave()
	op := c.operation(history.Lost)
	c.ended(op, history.OK, "")
}

// holds reports whether the server knows the hold, and has it last until then if it does.
func (w *stalledWorld) holds(key int, hold, until int64) bool {
	k := &w.keys[key]
	if k.owner != hold || w.now >= k.expires {
		return false
	}
	k.expires = until
	return true
}

func (c *stalledClient) release(hold int64) {
	w, k, held := c.w, &c.w.keys[c.key], false
	c.leave()
	op := c.operation(history.Release)
	w.ask(func() {
		held = w.holds(c.key, hold, k.expires)
		switch {
		case held && w.faulty(WedgesRelease, 20):
			k.expires = w.now + int64(time.Hour)
		case held:
			k.owner, k.wronged = 0, false
		case k.owner != 0 && w.now < k.expires && w.faulty(FreesAnybody, 1):
			k.owner, k.wronged = 0, true
		}
	}, func() {
		if held {
			c.ended(op, history.OK, "")
		} else {
			c.ended(op, history.LossReported, "")
		}
		c.hold = 0
		c.rest()
	})
}
