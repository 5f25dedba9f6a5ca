package inject

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/lockbench/lockbench/internal/fault"
)

// An actor draws the random choices for one client, or for the background work of a
// process. It is safe for concurrent use.
type actor struct {
	mu     sync.Mutex
	random *rand.Rand
}

// newActor returns an actor; its choices depend on the run's seed and on id alone.
func newActor(in *Injector, id int64) *actor {
	key := [32]byte{31: 'f'} // sets it apart from the clients' and the locks' choices
	binary.LittleEndian.PutUint64(key[:], in.config.Seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(id))
	return &actor{random: rand.New(rand.NewChaCha8(key))}
}

// chance draws an event of probability p.
func (a *actor) chance(p float64) bool {
	if p == 0 {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.random.Float64() < p
}

// below draws a number from 0 to n-1.
func (a *actor) below(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.random.IntN(n)
}

// occurs reports whether p occurs on this occasion of a.
func (p *plan) occurs(in *Injector, a *actor, held bool) bool {
	drawn := a.chance(p.P) // drawn in any case, so that later draws stay the same
	now := in.now()
	if p.While == fault.Held && !held || now < int64(p.At) || p.over(now) {
		return false
	}
	return drawn || (p.P == 0 || p.interval > 0 && held) && p.isDue(now)
}

// isDue reports whether p is due by the clock, and then sets its next time. Of
// several concurrent calls one returns true.
func (p *plan) isDue(now int64) bool {
	due := p.due.Load()
	if now < due {
		return false
	}
	next := int64(math.MaxInt64)
	if every := max(p.Every, p.interval); every > 0 {
		next = now + int64(every)
	}
	return p.due.CompareAndSwap(due, next)
}
