package workloads

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// A choice is the set of random values of one round of a live run.
type choice struct {
	// Key is the index of the lock.
	Key int
	// Hold and Think are the times to work and to pause; with Slow the hold outlives its
	// lease instead.
	Hold, Think time.Duration
	Slow        bool
	// Backoff is the pause after a refusal, in place of a Think of 0s.
	Backoff time.Duration
	// Punctuality decides at which time of its period a server turns to its job, from 0
	// to 1 (cron).
	Punctuality float64
}

// chance is the source of a client's choices.
type chance struct {
	// source is the state of random. It lies in the client, so that it shares no cache
	// line with the source of a client on another core.
	source rand.PCG
	random *rand.Rand // nil until the first choice
	key    func() int
}

// begin seeds s for a client at a place.
func (s *chance) begin(o *Options, client, place int) {
	s.source.Seed(clientSeed(o.Seed, client))
	s.random = rand.New(&s.source)
	s.key = keyChooser(o, place, s.random)
}

// clientSeed is the seed of one client's choices. A cipher mixes seed and client first:
// generators seeded with neighbouring numbers would begin with related draws.
func clientSeed(seed uint64, client int) (uint64, uint64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(client))
	mix := rand.NewChaCha8(key)
	return mix.Uint64(), mix.Uint64()
}

const (
	// backoff is the mean pause after a refusal when the think time is 0. At some 30
	// round trips it keeps the contention up, and refused clients do not take the server
	// from the holders.
	backoff    = time.Millisecond
	maxBackoff = 10 * time.Millisecond
	// errorPause, times the errors in a row up to maxErrors, is the pause after
	// an error, so that a server that is gone does not fill the history.
	errorPause = 20 * time.Millisecond
	maxErrors  = 10
)

// Perform makes so many rounds of p without choices and pauses, all on the run's first
// keys.
func (c *Client) Perform(ctx context.Context, p Program, rounds int) {
	if p.Part != nil {
		p.Part(ctx, c, rounds)
		return
	}
	for range rounds {
		_ = p.Step(ctx, c) // the record has the lock's answers
	}
}

// Iterate makes one round of p: a choice, a step and, in a closed loop, a pause; in an
// open loop the client is ready for the next arrival at once. It returns the error of a
// failed step. A driver need not stop for it, but the server may be gone.
func (c *Client) Iterate(ctx context.Context, p Program) error {
	c.choose()
	step := p.Step
	switch {
	case c.Requests != nil:
		step = p.Atomic
	case step == nil:
		step = p.twoRounds
		c.choice.Key = 0
	}
	err := step(ctx, c)
	if !c.run.open {
		c.pause(ctx, err)
	}
	return err
}

// twoRounds makes two rounds of a program with different rounds, on the run's first keys.
func (p *Program) twoRounds(ctx context.Context, c *Client) error {
	p.Part(ctx, c, 2)
	return nil
}

// choose draws every value of a round in a fixed order, needed or not, so that no answer
// of the lock changes later choices.
func (c *Client) choose() {
	o := &c.run.Options
	if c.chance.random == nil {
		c.chance.begin(o, c.ID, c.Place)
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
