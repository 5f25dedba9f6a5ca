package history

import (
	"slices"
	"time"
)

// renewals are those of one hold that a program reports when they are over. The client's mutex guards them.
type renewals struct {
	client *Client
	key    string
	since  int64 // the last one that is recorded was called then; the next one may have been since
	over   bool
}

// Renewals begins the record of the renewals of a hold that a program makes by itself and reports
// afterwards. Call it when the program has granted key. The function renewed records a renewal that was
// sent at from, by a clock that is better than the client's, with its result: the lease granted, or the
// error. If from is earlier than in the call before, such as the zero time, the outcome is unknown. The
// function end ends the record. With none, no other renewal can have an effect; without, one more is
// recorded, of unknown outcome.
//
// Until the end, readers of the growing history see no event after the last renewal that was recorded.
// Renewals and both functions are safe for concurrent use.
func (c *Client) Renewals(key string) (renewed func(from time.Time, granted time.Duration, err error), end func(none bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &renewals{client: c, key: key, since: c.now()}
	if !c.sealed {
		c.reported = append(c.reported, r)
	}
	return r.renewed, r.end
}

func (r *renewals) renewed(from time.Time, granted time.Duration, err error) {
	c := r.client
	at, v := c.now(), judge(err, c.notes)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.over || c.sealed {
		return
	}
	called := min(at, int64(from.Sub(c.base)))
	if called < r.since && v.outcome == OK {
		v.outcome = Unknown
	}
	r.since = max(called, r.since)
	r.record(Op{Return: at, Outcome: v.outcome, Late: v.late, Note: v.note, Granted: int64(granted)})
	if v.outcome == LossReported {
		r.forget()
	}
}

func (r *renewals) end(none bool) {
	c := r.client
	at := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.over || c.sealed {
		return
	}
	if !none {
		r.record(Op{Return: at, Outcome: Unknown})
	}
	r.forget()
}

// record records a renewal that was called at r.since, by its end. The client's mutex is held.
func (r *renewals) record(what Op) {
	c := r.client
	op := c.track.open()
	op.Kind, op.Key = Renew, r.key
	op.Outcome, op.Late, op.Note = what.Outcome, what.Late, what.Note
	if what.Outcome == OK || what.Outcome == Unknown {
		op.Granted = what.Granted
	}
	c.holds.begin(op)
	c.track.calledAt(op, r.since)
	op.Attempt, op.Return = op.Call, what.Return
	c.holds.end(op)
	c.track.ended(op)
}

// forget ends the reports. The client's mutex is held.
func (r *renewals) forget() {
	r.over = true
	r.client.reported = slices.DeleteFunc(r.client.reported, func(o *renewals) bool { return o == r })
}
