package checker

import (
	"math"
	"slices"

	"github.com/lockbench/lockbench/history"
)

// A latent hold is an acquire of unknown outcome under which nothing was done yet.
// There may be one for every client and key, so a hold is made of it only when it
// comes to matter: when its client does something under it, turns to another, or
// when something befalls more than one key. Until then it has no core, is known to
// nobody and judges nothing; all that it does is to keep the key from being provably
// free, which refusals.tainted says. Where acquires join what their client has left,
// or faults may strike, it may matter sooner, and holds are made at once.
type latent struct {
	hold   int64
	client int32
	op     *history.Op
	number int64 // among the holds of the key
}

// lies tells whether the hold that acquire op, of unknown outcome, begins on k may be latent.
func (c *Checker) lies(k *key) bool {
	return !c.unveiled && !c.joins() && !c.unseen && !c.faulty() && !k.renamed
}

// lookup returns the hold of k with this id, made of a latent one if need be; nil when it
// is not known (any more).
func (c *Checker) lookup(k *key, id int64) *hold {
	if id == 0 {
		return nil
	}
	if len(k.latent) > 0 && !k.open(id) {
		c.unveil(k, func(l *latent) bool { return l.hold == id })
	}
	return k.find(id)
}

// open tells whether a hold with this id is open.
func (k *key) open(id int64) bool {
	for _, h := range k.holds {
		if h.id == id {
			return true
		}
	}
	return false
}

// unveil makes holds of the latent ones of k that match.
func (c *Checker) unveil(k *key, match func(*latent) bool) {
	for i := 0; i < len(k.latent); i++ {
		if !match(&k.latent[i]) {
			continue
		}
		l := k.latent[i]
		k.latent = slices.Delete(k.latent, i, i+1)
		i--
		h := c.newHold(l.op)
		h.cap(k.caps.of(l.op.Client))
		h.number = l.number
		at := len(k.holds)
		for at > 0 && k.holds[at-1].number > l.number {
			at--
		}
		k.holds = slices.Insert(k.holds, at, h)
	}
}

// unveilAll makes holds of all latent ones, and of each to come at once: something
// happens that concerns more than one key.
func (c *Checker) unveilAll() {
	if c.unveiled {
		return
	}
	c.unveiled = true
	for _, k := range c.keys {
		c.unveil(k, func(*latent) bool { return true })
	}
}

// reach is until when h, which is gone, may have kept others out, in ns, unless its
// owner does more with it.
func (h *hold) reach() int64 {
	if h.released {
		return max(h.coreEnd().t, min(h.until, h.end.t))
	}
	return max(h.coreEnd().t, h.until)
}

// stretched notes that something was done with h that may keep others out for longer.
func (k *key) stretched(h *hold) {
	if h.dropped {
		k.reach = math.MaxInt64
	}
}
