package explore

import (
	"strings"

	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/stepserver"
)

// runOnServer makes the server run a command, by how, and records the clients from which it
// took a lock.
func (w *world) runOnServer(c *stepserver.Command, how func(*stepserver.Command) stepserver.Effect) stepserver.Effect {
	w.running = c
	defer func() { w.running = nil }()
	return how(c)
}

// recordTaken records the clients from which the command that is being run took a lock,
// before its sender gets the reply: the command left nothing on the server of a lock
// that another client believes to hold. The victim may never notice, and nobody may come
// before its lease is over.
//
// The keys of a lock contain the lock's name. While any such key is left, nothing is
// taken: a lock may keep several keys, and drop one that excludes nobody.
func (w *world) recordTaken(c *stepserver.Command, e stepserver.Effect) {
	if c != w.running {
		return
	}
	for _, key := range w.shared.Keys {
		if changes(e, key) && !w.server.Has(key) {
			w.effect.Mark(key, strategy.Orders) // the beliefs of clients about the key matter to this step
			w.recordTakenAway(key, w.sender(c))
		}
	}
}

// changes reports whether a command wrote to a key that contains part.
func changes(e stepserver.Effect, part string) bool {
	for _, name := range e.Writes {
		if !strings.HasPrefix(name, "\x00") && strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// recordTakenAway records that a command of by left nothing of a lock that others believe to
// hold.
func (w *world) recordTakenAway(key string, by *actor) {
	if by == nil {
		return
	}
	for _, a := range w.clients {
		if a != by && !a.crashed && a.believes(key) {
			a.record.TakenAway(key, int32(by.number))
		}
	}
}
