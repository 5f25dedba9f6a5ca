package history_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestRenewals: what a program reports of its renewals is recorded as of the time at which each was sent, long
// after readers could have passed it; and one that is under way, at the release or at the death, has an unknown
// outcome.
func TestRenewals(t *testing.T) {
	type told = func(from time.Time, granted time.Duration, err error)
	// script acquires for 10 s at 1 s and, when its steps are over, releases.
	script := func(t *testing.T, none bool, steps func(to func(s int), at func(s int) time.Time, renewed told, c *history.Client)) []history.Op {
		var ops []history.Op
		synctest.Test(t, func(t *testing.T) {
			ops = record(t, "", func(r *history.Recorder) {
				c, base := r.Client(3, 0), r.Base()
				at := func(s int) time.Time { return base.Add(time.Duration(s) * time.Second) }
				to := func(s int) { time.Sleep(time.Until(at(s))) }
				var renewed told
				var end func(bool)
				to(1)
				lock := c.Locker(&scripted{lease: &plain{}, during: func() { renewed, end = c.Renewals("key") }})
				lease, err := lock.Acquire(ctx, "key", lockbench.Options{TTL: 10 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				steps(to, at, renewed, c)
				end(none)
				_ = lease.Release(ctx)
				renewed(at(0), time.Second, nil) // nobody wants to know
				end(false)
			})
		})
		return ops
	}
	never := errors.New("no answer")
	for _, tt := range []struct {
		name  string
		steps func(to func(s int), at func(s int) time.Time, renewed told, c *history.Client)
		none  bool // is under way at the end
		want  []renewal
	}{
		{"one after the other", func(to func(int), at func(int) time.Time, renewed told, _ *history.Client) {
			to(5)
			renewed(at(4), 10*time.Second, nil)
			to(8)
			renewed(at(7), 9*time.Second, nil)
			to(9)
		}, false, []renewal{{history.OK, 4, 5, 10}, {history.OK, 7, 8, 9}, {history.Unknown, 7, 9, 0}}},
		{"the record is late", func(to func(int), at func(int) time.Time, renewed told, _ *history.Client) {
			to(9)
			renewed(at(4), 10*time.Second, nil)
			renewed(at(7), 10*time.Second, nil)
		}, false, []renewal{{history.OK, 4, 9, 10}, {history.OK, 7, 9, 10}, {history.Unknown, 7, 9, 0}}},
		{"instants that are not known", func(to func(int), at func(int) time.Time, renewed told, _ *history.Client) {
			to(5)
			renewed(time.Time{}, 10*time.Second, nil)
			renewed(at(4), 10*time.Second, nil)
			renewed(at(3), 10*time.Second, nil)
			to(6)
		}, false, []renewal{{history.Unknown, 1, 5, 10}, {history.OK, 4, 5, 10}, {history.Unknown, 4, 5, 10}, {history.Unknown, 4, 6, 0}}},
		{"errors", func(to func(int), at func(int) time.Time, renewed told, _ *history.Client) {
			to(5)
			renewed(at(2), 10*time.Second, never)
			renewed(at(3), 10*time.Second, lockbench.ErrNoEffect)
			renewed(at(4), 10*time.Second, lockbench.ErrNotHeld)
			renewed(at(5), 10*time.Second, nil)
		}, false, []renewal{{history.Unknown, 2, 5, 10}, {history.Failed, 3, 5, 0}, {history.LossReported, 4, 5, 0}}},
		{"none is under way at the release", func(to func(int), at func(int) time.Time, renewed told, _ *history.Client) {
			to(5)
			renewed(at(4), 10*time.Second, nil)
			to(9)
		}, true, []renewal{{history.OK, 4, 5, 10}}},
		{"its owner dies", func(to func(int), at func(int) time.Time, renewed told, c *history.Client) {
			to(5)
			c.Die("gone")
			renewed(at(4), 10*time.Second, nil)
		}, false, []renewal{{history.Unknown, 1, -1, 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []renewal
			ops := script(t, tt.none, tt.steps)
			for _, op := range ops {
				if op.Kind != history.Renew {
					continue
				}
				if op.Hold != ops[0].Hold || op.Key != "key" || op.Client != 3 {
					t.Errorf("the renewal %+v is not of the hold %d", op, ops[0].Hold)
				}
				r := renewal{op.Outcome, op.Call / 1e9, -1, op.Granted / 1e9}
				if op.Return != history.Never {
					r.to = op.Return / 1e9
				}
				got = append(got, r)
			}
			if diff := cmp.Diff(got, tt.want, cmp.AllowUnexported(renewal{})); diff != "" {
				t.Errorf("the renewals (-got +want):\n%s", diff)
			}
		})
	}
}

// A renewal is one on record: its outcome, from when to when it was under way, -1 for ever, and its lease, in s.
type renewal struct {
	outcome           history.Outcome
	from, to, granted int64
}
