package adapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
)

// Costs are the costs of a lock without contention: each is the median of the rounds.
type Costs struct {
	Noop  time.Duration // of a request that does nothing
	Steps time.Duration // of an acquire and a release, as two requests
	Bare  time.Duration // of an acquire and a release in a loop of the adapter itself
	// BareUnknown is why Bare is not known, empty if it is.
	BareUnknown string
	// Relayed reports whether a relay stood between adapter and server.
	Relayed bool
}

// Step returns the cost of a request over that of a call of the library.
func (c *Costs) Step() time.Duration { return (c.Steps - c.Bare) / 2 }

// benchLease is the lease that a bench requests. It is longer than any acquire and release.
const benchLease = 10 * time.Second

// Bench measures an adapter, by the command of a user: one owner acquires and releases one key, so many
// pairs in each round. The first round is not counted. on returns the TCP address of the server, too; if
// it is empty, the adapter reaches the server through a relay.
func Bench(ctx context.Context, command string, on func(design.Backend) (env design.Environment, address string, err error), rounds, pairs int) (hello Hello, c Costs, err error) {
	hello, backend, err := describe(ctx, command)
	if err != nil {
		return hello, c, err
	}
	env, address, err := on(backend)
	if err != nil {
		return hello, c, err
	}
	c.Relayed = address == ""
	p := &process{env: env, hello: hello}
	if to, is := env.Services[0].(design.Addressed); is && !c.Relayed {
		p.program, err = start(command, greeting{Hello: Version, Servers: []string{to.URL(address)}, Prefix: env.Prefix, Seed: seed(env.Random)})
	} else {
		p, err = open(command, hello, Settings{}, env)
	}
	if err != nil {
		return hello, c, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.Ready(ctx); err != nil {
		return hello, c, err
	}
	b := &bench{ctx: ctx, owner: p.Locker(design.Blind).(*locker), key: env.Prefix + "bench", pairs: pairs}
	return hello, c, b.measure(&c, rounds)
}

// A bench measures one owner.
type bench struct {
	ctx   context.Context
	owner *locker
	key   string
	pairs int
}

// measure measures the three costs in turns, so that a busy machine affects all of them.
func (b *bench) measure(c *Costs, rounds int) error {
	var noop, steps, bare []time.Duration
	for round := range rounds + 1 {
		n, err := b.each(func() error {
			_, err := b.owner.call(b.ctx, request{Op: opNoop})
			return err
		})
		if err != nil {
			return fmt.Errorf("noop: %w", err)
		}
		s, err := b.each(b.pair)
		if err != nil {
			return err
		}
		var loop time.Duration
		if c.BareUnknown == "" {
			got, err := b.owner.call(b.ctx, request{Op: opRepeat, Key: b.key, TTLMS: millis(benchLease), Times: b.pairs})
			switch {
			case errors.Is(err, lockbench.ErrNoEffect):
				c.BareUnknown = err.Error()
			case err != nil:
				return fmt.Errorf("repeat of %d pairs: %w; hint: fewer pairs, if it takes long", b.pairs, err)
			case got.TookNS <= 0:
				return fmt.Errorf("repeat of %d pairs: took_ns %d; hint: it is the time that they took", b.pairs, got.TookNS)
			default:
				loop = time.Duration(got.TookNS) / time.Duration(b.pairs)
			}
		}
		if round > 0 {
			noop, steps, bare = append(noop, n), append(steps, s), append(bare, loop)
		}
	}
	c.Noop, c.Steps, c.Bare = median(noop), median(steps), median(bare)
	return nil
}

// each calls f once for each pair, and returns the mean time of a call.
func (b *bench) each(f func() error) (time.Duration, error) {
	began := time.Now()
	for range b.pairs {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return time.Since(began) / time.Duration(b.pairs), nil
}

// pair acquires and releases the key.
func (b *bench) pair() error {
	got, err := b.owner.call(b.ctx, request{Op: opAcquire, Key: b.key, TTLMS: millis(benchLease)})
	if err != nil {
		return fmt.Errorf("acquire: %w", err)
	}
	if _, err := b.owner.call(b.ctx, request{Op: opRelease, Key: b.key, Hold: got.Hold}); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
