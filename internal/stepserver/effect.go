package stepserver

import (
	"slices"
	"strconv"
)

// An Effect is what running a command did, for deciding whether two steps commute.
// It is by outcome: a refused SET NX is a read. It may name more than was touched,
// never less.
type Effect struct {
	// Process sent the command.
	Process int
	// Reads and Writes name keys (those of database 0 by their name), Everything,
	// and under names that begin with a NUL what else clients share: channels, the
	// script cache, which clients wait for a key.
	Reads, Writes []string
	// Woken are the processes, but for the sender's, that were sent something: a
	// message, or what they had been waiting for.
	Woken []int
	// Reply is what the client is answered, as RESP.
	Reply string
	// Waits: the command blocks, and there is no reply yet.
	Waits bool
}

// Independent reports whether two steps of different processes lead to the same
// state and the same replies in both orders, whenever both can be taken. It says
// nothing of the time they are taken at.
func (e Effect) Independent(o Effect) bool {
	if e.Process == o.Process || slices.Contains(e.Woken, o.Process) || slices.Contains(o.Woken, e.Process) {
		return false
	}
	if slices.ContainsFunc(e.Woken, func(p int) bool { return slices.Contains(o.Woken, p) }) {
		return false
	}
	return !meet(e.Writes, o.Writes) && !meet(e.Writes, o.Reads) && !meet(e.Reads, o.Writes)
}

// meet reports whether two sets of names share one.
func meet(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	if slices.Contains(a, Everything) || slices.Contains(b, Everything) {
		return true
	}
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

func (e *Effect) reads(names ...string)  { e.Reads = add(e.Reads, names) }
func (e *Effect) writes(names ...string) { e.Writes = add(e.Writes, names) }
func (e *Effect) wakes(process int) {
	if process != e.Process && !slices.Contains(e.Woken, process) {
		e.Woken = append(e.Woken, process)
	}
}

// add adds names to a set. The first ones are shared with their source, which
// is why their slice is never written to.
func add(to, names []string) []string {
	if len(to) == 0 && len(names) > 0 {
		return names[:len(names):len(names)]
	}
	for _, n := range names {
		if !slices.Contains(to, n) {
			to = append(to, n)
		}
	}
	return to
}

// by adds what the command args, answered reply in database db, did.
func (e *Effect) by(s *spec, db int, args []string, reply string) {
	keys := inDatabase(db, s.keys(args))
	dest := s.dest
	if dest < 0 || dest > len(keys) {
		dest = len(keys)
	}
	if isError(reply) && !s.partly || s.same != nil && s.same(args, reply) {
		dest = 0
	}
	e.writes(keys[:dest]...)
	e.reads(keys[dest:]...)
}

// inDatabase names the keys of a database; those of database 0 are named by
// themselves.
func inDatabase(db int, keys []string) []string {
	if db == 0 {
		return keys
	}
	named := slices.Clone(keys)
	for i, k := range named {
		if k != Everything {
			named[i] = "\x00" + strconv.Itoa(db) + "/" + k
		}
	}
	return named
}

// scriptCache is written when all scripts are forgotten; what uses or adds one
// reads it.
const scriptCache = "\x00scripts"

func scriptName(sha string) string      { return "\x00script/" + sha }
func channelName(channel string) string { return "\x00channel/" + channel }

// waiters is written by what begins to wait for a key, and by what serves one that
// waits: the first to come is the first to be served.
const waiters = "\x00waiters"

// patterns is written by what subscribes to a pattern; a publisher reads it.
const patterns = "\x00patterns"
