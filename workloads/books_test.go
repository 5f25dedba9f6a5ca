package workloads

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench"
)

func TestBusinessCountsWhatIsCertain(t *testing.T) {
	for _, c := range []struct {
		name     string
		of       func(Books) map[string]int64
		accounts []Account
		want     map[string]int64
	}{
		{"all sales are in the stock", sales, []Account{{Start: 10, Left: 7, Taken: 3}},
			map[string]int64{"sold": 3, "gone": 3, "oversold": 0, "uncertain": 0}},
		{"a sale is not", sales, []Account{{Start: 10, Left: 8, Taken: 3}},
			map[string]int64{"sold": 3, "gone": 2, "oversold": 1, "uncertain": 0}},
		{"an unanswered write took effect, beside a key that oversold", sales, []Account{{Start: 10, Left: 6, Taken: 3, MayTaken: 1}, {Start: 10, Left: 8, Taken: 3}},
			map[string]int64{"sold": 6, "gone": 6, "oversold": 1, "uncertain": 1}},
		{"all points are accounted for", redemptions, []Account{{Start: 100, Left: 90, Taken: 110, Added: 100}},
			map[string]int64{"redeemed": 110, "had": 110, "overdrawn": 0, "missing": 0, "uncertain": 0}},
		{"redeemed twice", redemptions, []Account{{Start: 100, Left: 90, Taken: 20}},
			map[string]int64{"redeemed": 20, "had": 10, "overdrawn": 10, "missing": 0, "uncertain": 0}},
		{"earned and lost", redemptions, []Account{{Start: 100, Left: 90, Taken: 10, Added: 100}},
			map[string]int64{"redeemed": 10, "had": 110, "overdrawn": 0, "missing": 100, "uncertain": 0}},
		{"unanswered writes took effect", redemptions, []Account{{Start: 100, Left: 180, Taken: 10, MayAdded: 100, MayTaken: 10}},
			map[string]int64{"redeemed": 10, "had": -80, "overdrawn": 0, "missing": 0, "uncertain": 10}},
	} {
		if diff := cmp.Diff(c.of(Books{Accounts: c.accounts}), c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", c.name, diff)
		}
	}
}

func TestWritesAreEnteredByTheirAnswer(t *testing.T) {
	run := NewRun(Options{Keys: 1}, nil)
	run.KeepBooks()
	c := run.Client(0, nil, nil)
	c.enter(-1, true, nil)
	c.enter(-2, false, errLost)
	c.enter(-4, false, fmt.Errorf("%w: %w", lockbench.ErrNoEffect, errLost))
	c.enter(-8, false, nil) // a guard refused it
	c.enter(16, true, nil)
	c.enter(32, false, errors.New("no answer"))
	want := Account{Taken: 1, MayTaken: 2, Added: 16, MayAdded: 32}
	if diff := cmp.Diff(run.books.accounts[0].account(0), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestJobsRepeatedInAPeriod(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(100, int64(ms)*1e6) }
	for _, c := range []struct {
		name string
		do   func(*books)
		want Jobs
	}{
		{"once each", func(b *books) {
			b.end(b.begin(jobOf{0, 1}, at(0)), true, at(10))
			b.end(b.begin(jobOf{0, 2}, at(20)), true, at(30))
			b.end(b.begin(jobOf{1, 2}, at(20)), true, at(30))
		}, Jobs{Periods: 3, Run: 3}},
		{"two at once", func(b *books) {
			b.begin(jobOf{0, 1}, at(0))
			b.begin(jobOf{0, 1}, at(10))
			b.begin(jobOf{0, 1}, at(10))
		}, Jobs{Periods: 1, Run: 3, Repeated: 1}},
		{"again within the delay", func(b *books) {
			b.end(b.begin(jobOf{0, 1}, at(0)), true, at(10))
			b.begin(jobOf{0, 1}, at(59))
		}, Jobs{Periods: 1, Run: 2, Repeated: 1}},
		{"a server that comes later", func(b *books) {
			b.end(b.begin(jobOf{0, 1}, at(0)), true, at(10))
			b.begin(jobOf{0, 1}, at(60))
		}, Jobs{Periods: 1, Run: 2}},
		{"after one that was not done", func(b *books) {
			b.end(b.begin(jobOf{0, 1}, at(0)), false, at(10))
			b.begin(jobOf{0, 1}, at(20))
		}, Jobs{Periods: 1, Run: 2}},
	} {
		b := &books{delay: 100 * time.Millisecond, periods: map[jobOf]*period{}}
		c.do(b)
		if diff := cmp.Diff(b.jobs, c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", c.name, diff)
		}
	}
}
