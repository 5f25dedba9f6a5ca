package workloads

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// A choice is all that chance decides about one round of a live run.
type choice struct {
	// Key is the index of the lock.
	Key int
	// Hold and Think are the times to work and to pause; Slow: the hold is to
	// outlive its lease instead.
	Hold, Think time.Duration
	Slow        bool
	// Backoff is the pause after a refusal, in place of a Think of 0s.
	Backoff time.Duration
	// Punctuality decides when in its period a server turns to its job, from 0 to
	// 1 (cron).
	Punctuality float64
}

// chance is where a client's choices come from.
type chance struct {
	// source is the state of random. It lies in the client, away from that of clients on
	// other cores, which would share its cache line.
	source rand.PCG
	random *rand.Rand // nil until the first choice
	key    func() int
}

// begin seeds it for a client.
func (s *chance) begin(o *Options, client int) {
	s.source.Seed(clientSeed(o.Seed, client))
	s.random = rand.New(&s.source)
	s.key = keyChooser(o, client, s.random)
}

// clientSeed is what one client's choices begin from. Seed and client are mixed
// by a cipher first: generators seeded with neighbouring numbers would begin
// with related draws.
func clientSeed(seed uint64, client int) (uint64, uint64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(client))
	mix := rand.NewChaCha8(key)
	return mix.Uint64(), mix.Uint64()
}

const (
	// backoff is the mean pause of a client that was refused and has no time to
	// think. Some 30 round trips: it keeps the contention up and the
	// refused from taking the server from those that hold.
	backoff    = time.Millisecond
	maxBackoff = 10 * time.Millisecond
	// errorPause, times the errors in a row up to maxErrors, is the pause after
	// an error, so that a server that is gone does not fill the history.
	errorPause = 20 * time.Millisecond
	maxErrors  = 10
)

// Perform goes through p as often as rounds says, one round after the other, without
// choices and pauses: all on the run's first keys.
func (c *Client) Perform(ctx context.Context, p Program, rounds int) {
	if p.Part != nil {
		p.Part(ctx, c, rounds)
		return
	}
	for range rounds {
		_ = p.Step(ctx, c) // what the lock answered is in the record
	}
}

// Iterate makes one round of p: a choice, a step and, in a closed loop, a pause; in
// an open one the client is ready for the next arrival at once. It returns the
// error that spoiled the step, if any; that is no reason to stop, but tells a
// driver that the server may be gone.
func (c *Client) Iterate(ctx context.Context, p Program) error {
	c.choose()
	step := p.Step
	if c.Requests != nil {
		step = p.Atomic
	}
	err := step(ctx, c)
	if !c.run.open {
		c.pause(ctx, err)
	}
	return err
}

// choose draws everything a round may need, always in the same order and
// needed or not, so that no answer of the lock changes later choices.
func (c *Client) choose() {
	o := &c.run.Options
	if c.chance.random == nil {
		c.chance.begin(o, c.ID)
	}
	random, key := c.chance.random, c.chance.key()
	c.refused = false
	c.choice = choice{
		Key:         key,
		Slow:        random.Float64() < o.Slow || c.Slow,
		Hold:        o.Hold.sample(random),
		Think:       o.Think.sample(random),
		Backoff:     min(maxBackoff, time.Duration(random.ExpFloat64()*float64(backoff))),
		Punctuality: random.Float64(),
	}
}

func (c *Client) pause(ctx context.Context, err error) {
	d := c.choice.Think
	switch {
	case err != nil:
		c.errors = min(c.errors+1, maxErrors)
		d = max(d, errorPause*time.Duration(c.errors))
	case c.refused && d == 0:
		c.errors, d = 0, c.choice.Backoff
	default:
		c.errors = 0
	}
	c.work(ctx, d)
}
