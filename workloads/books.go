package workloads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockbench/lockbench"
)

// Books compare the clients' own record of their business with the final state of the store.
type Books struct {
	// Accounts has one account per key.
	Accounts []Account
	Jobs     Jobs
}

// An Account sums up the changes of one guarded record.
type Account struct {
	// Start and Left are its value before the first client and after the last.
	Start, Left int64
	// Taken and Added are the totals that successful writes subtracted and added.
	Taken, Added int64
	// MayTaken and MayAdded are the totals of the writes with unknown outcome.
	MayTaken, MayAdded int64
}

// Jobs counts the jobs of cron over all keys.
type Jobs struct {
	// Periods counts the periods in which a job began, Run the jobs that began.
	Periods, Run int64
	// Repeated counts the periods in which a job began beside another, or within half of the
	// delay after another ended. It is half, so that no difference between clocks counts. A
	// server that comes later runs the job again, whatever the lock does.
	Repeated int64
}

// books are the clients' entries during a run. They are safe for concurrent use.
type books struct {
	accounts []tally // by key

	mu      sync.Mutex
	delay   time.Duration
	periods map[jobOf]*period
	jobs    Jobs
}

// A tally holds the entries for one record.
type tally struct{ taken, added, mayTaken, mayAdded atomic.Int64 }

// A jobOf names a job: the key and the number of the period.
type jobOf struct {
	key    int
	number int64
}

// A period is a period in which at least one job began.
type period struct {
	running  int
	until    time.Time // half of the delay after the last job
	repeated bool
}

// KeepBooks makes clients record their business for [Run.Books]. Call it before they start.
func (r *Run) KeepBooks() {
	r.books = &books{accounts: make([]tally, len(r.Keys)), delay: r.Options.Delay, periods: make(map[jobOf]*period)}
}

// Books returns the entries of the clients and the values of their records in store. Call it after
// all clients have stopped. It returns an error if the store cannot be read or has lost a record.
func (r *Run) Books(ctx context.Context, store lockbench.Store, p Program) (Books, error) {
	all := Books{Jobs: r.books.jobs}
	if !p.needs(HasStore) {
		return all, nil
	}
	for i, key := range r.Keys {
		if !r.Here(i) {
			continue
		}
		record, err := store.Read(ctx, key)
		if err != nil {
			return all, err
		}
		account := r.books.accounts[i].account(record.Value)
		if p.Stock != nil {
			if record.Version == 0 {
				return all, fmt.Errorf("the record of %s is gone", key)
			}
			account.Start = p.Stock(r.Options)
		}
		all.Accounts = append(all.Accounts, account)
	}
	return all, nil
}

func (t *tally) account(left int64) Account {
	return Account{
		Left: left, Taken: t.taken.Load(), Added: t.added.Load(),
		MayTaken: t.mayTaken.Load(), MayAdded: t.mayAdded.Load(),
	}
}

// Join returns the sum of both books.
func (b Books) Join(more Books) Books {
	b.Accounts = append(b.Accounts, more.Accounts...)
	b.Jobs.Periods += more.Jobs.Periods
	b.Jobs.Run += more.Jobs.Run
	b.Jobs.Repeated += more.Jobs.Repeated
	return b
}

// enter records a write that changes the round's record by change, with its answer.
func (c *Client) enter(change int64, ok bool, err error) {
	if c.run.books == nil {
		return
	}
	t := &c.run.books.accounts[c.choice.Key%len(c.run.books.accounts)]
	switch {
	case ok && change < 0:
		t.taken.Add(-change)
	case ok:
		t.added.Add(change)
	case err == nil, errors.Is(err, lockbench.ErrNoEffect): // the write was not made
	case change < 0:
		t.mayTaken.Add(-change)
	default:
		t.mayAdded.Add(change)
	}
}

// beginJob records that the job of the client's period begins. The function that it returns
// records the end of the job, and whether it was completed.
func (c *Client) beginJob() (ended func(done bool)) {
	b := c.run.books
	if b == nil {
		return func(bool) {}
	}
	p := b.begin(jobOf{c.choice.Key, c.period - 1}, time.Now())
	return func(done bool) { b.end(p, done, time.Now()) }
}

func (b *books) begin(job jobOf, now time.Time) *period {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.periods[job]
	if p == nil {
		p = &period{}
		b.periods[job] = p
		delete(b.periods, jobOf{job.key, job.number - longAgo})
		b.jobs.Periods++
	}
	if !p.repeated && (p.running > 0 || now.Before(p.until)) {
		p.repeated = true
		b.jobs.Repeated++
	}
	p.running++
	b.jobs.Run++
	return p
}

// longAgo is the number of periods after which no client begins a job of a period any more.
const longAgo = 16

func (b *books) end(p *period, done bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.running--
	if done {
		p.until = now.Add(b.delay / 2)
	}
}
