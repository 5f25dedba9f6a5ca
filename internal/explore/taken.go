package explore

import (
	"strings"

	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/stepserver"
)

// carryOut has the server run a command, by how, and records from whom it took a lock.
func (w *world) carryOut(c *stepserver.Command, how func(*stepserver.Command) stepserver.Effect) stepserver.Effect {
	w.carried = c
	defer func() { w.carried = nil }()
	return how(c)
}

// executed records from whom a command that is being carried out took a lock, before its
// sender hears of it: the command left nothing on the server of what a client other than
// its sender believes to hold. The victim may never notice, nor anybody come before its
// lease is over.
//
// A lock is known by its name being part of a key's. While any such key is left,
// nothing is taken: a lock may keep several, and drop one that holds nobody out.
func (w *world) executed(c *stepserver.Command, e stepserver.Effect) {
	if c != w.carried {
		return
	}
	for _, key := range w.shared.Keys {
		if changes(e, key) && !w.server.Has(key) {
			w.effect.Mark(key, strategy.Orders) // which client believes what of the key matters to this step
			w.takenAway(key, w.sender(c))
		}
	}
}

// changes reports whether a command wrote to a key that has part in its name.
func changes(e stepserver.Effect, part string) bool {
	for _, name := range e.Writes {
		if !strings.HasPrefix(name, "\x00") && strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// takenAway records that a command of by left nothing of what others believe to hold.
func (w *world) takenAway(key string, by *actor) {
	if by == nil {
		return
	}
	for _, a := range w.clients {
		if a != by && !a.crashed && a.believes(key) {
			a.record.TakenAway(key, int32(by.number))
		}
	}
}
