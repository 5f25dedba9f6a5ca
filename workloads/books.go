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

// Business is what a run came to in the words of its program.
type Business struct {
	// Says is one sentence, Figures what it is made of, by names that are stable.
	Says    string
	Figures map[string]int64
}

// Books are what clients entered of their business, beside what became of it in the store.
type Books struct {
	// Accounts are those of the records, one a key.
	Accounts []Account
	Jobs     Jobs
}

// An Account is what became of one guarded record.
type Account struct {
	// Start and Left are its value before the first client and after the last.
	Start, Left int64
	// Taken and Added are what writes that were answered ok took from it, and added.
	Taken, Added int64
	// MayTaken and MayAdded are the same of writes of unknown outcome.
	MayTaken, MayAdded int64
}

// Jobs are what became of the jobs of cron, over all keys.
type Jobs struct {
	// Periods are those in which a job was begun, Run the jobs that were.
	Periods, Run int64
	// Repeated are the periods in which a job was begun beside another, or so soon after one
	// was done that its delay was to keep others out: half of the delay, so that no clock
	// decides it. A server that comes later runs the job again, whatever the lock does.
	Repeated int64
}

// books are what clients enter while they run. They are safe for concurrent use.
type books struct {
	accounts []tally // by key

	mu      sync.Mutex
	delay   time.Duration
	periods map[jobOf]*period
	jobs    Jobs
}

// A tally is what clients enter of one record.
type tally struct{ taken, added, mayTaken, mayAdded atomic.Int64 }

// A jobOf names a job: the key and the number of the period.
type jobOf struct {
	key    int
	number int64
}

// A period is one in which a job was begun.
type period struct {
	running  int
	until    time.Time // others are to be kept out until then
	repeated bool
}

// KeepBooks has clients enter what they do, for [Run.Books]. It is called before they start.
func (r *Run) KeepBooks() {
	r.books = &books{accounts: make([]tally, len(r.Keys)), delay: r.Options.Delay, periods: make(map[jobOf]*period)}
}

// Books returns what clients entered, none of which is running any more, and what store has
// of it. The error says that the store cannot be read, or that it has lost what it had.
func (r *Run) Books(ctx context.Context, store lockbench.Store, p Program) (Books, error) {
	all := Books{Jobs: r.books.jobs}
	if !p.needs(HasStore) {
		return all, nil
	}
	for i, key := range r.Keys {
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

// Join returns the books of both.
func (b Books) Join(more Books) Books {
	b.Accounts = append(b.Accounts, more.Accounts...)
	b.Jobs.Periods += more.Jobs.Periods
	b.Jobs.Run += more.Jobs.Run
	b.Jobs.Repeated += more.Jobs.Repeated
	return b
}

// enter enters a write that changed the round's record by so much, with what it was answered.
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
	case err == nil, errors.Is(err, lockbench.ErrNoEffect): // it was not made
	case change < 0:
		t.mayTaken.Add(-change)
	default:
		t.mayAdded.Add(change)
	}
}

// beginJob enters that the job of the client's period begins. It returns what enters its end,
// and whether it was done.
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

// longAgo is after how many periods nobody begins a job of one any more.
const longAgo = 16

func (b *books) end(p *period, done bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.running--
	if done {
		p.until = now.Add(b.delay / 2)
	}
}
