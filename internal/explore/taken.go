package explore

import (
	"strings"

	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
	"github.com/lockbench/lockbench/internal/explore/stepserver"
)

// runOnServer runs a command on the server by how, and records the clients that lost a lock to it.
func (w *world) runOnServer(c *stepserver.Command, how func(*stepserver.Command) stepserver.Effect) stepserver.Effect {
	w.running = c
	defer func() { w.running = nil }()
	return how(c)
}

// recordTaken records the clients that lost a lock to the current command: the command removed the
// last key of a lock that another client believes to hold. It records them before the sender gets
// the reply. The victim need never notice, and no other client need acquire the lock before its
// lease ends.
//
// The keys of a lock contain its name. As long as any such key exists, nothing counts as taken: a
// lock may have several keys, and delete one that excludes no client.
func (w *world) recordTaken(c *stepserver.Command, e stepserver.Effect) {
	if c != w.running {
		return
	}
	for _, key := range w.shared.Keys {
		if changes(e, key) && !w.server.Has(key) {
			w.effect.Mark(key, strategy.Orders) // the step depends on the beliefs of clients about the key
			w.recordTakenAway(key, w.sender(c))
		}
	}
}

// changes reports whether a command wrote to a key with part in its name.
func changes(e stepserver.Effect, part string) bool {
	for _, name := range e.Writes {
		if !strings.HasPrefix(name, "\x00") && strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// recordTakenAway records that a command of by removed a lock that other clients believe to hold.
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
