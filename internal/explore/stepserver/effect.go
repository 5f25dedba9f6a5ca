package stepserver

import (
	"slices"
	"strconv"
)

// An Effect describes the effect of a command, to decide whether two steps commute. It depends on
// the result: a refused SET NX only reads. It may name more keys than the command touched, never
// fewer.
type Effect struct {
	// Process is the process that sent the command.
	Process int
	// Reads and Writes name keys (of database 0 by their name), Everything, and other state that
	// clients share, by names that begin with NUL: channels, the script cache, and the clients that
	// wait for a key.
	Reads, Writes []string
	// Woken are the processes, other than the sender's, to which the server sent data: a message,
	// or a value that they waited for.
	Woken []int
	// Reply is the reply to the client, in RESP.
	Reply string
	// Waits is set if the command blocks, and has no reply yet.
	Waits bool
}

// Independent reports whether two steps of different processes, if both are possible, lead to the
// same state and the same replies in both orders. It does not consider the time of the steps.
func (e Effect) Independent(o Effect) bool {
	if e.Process == o.Process || slices.Contains(e.Woken, o.Process) || slices.Contains(o.Woken, e.Process) {
		return false
	}
	if slices.ContainsFunc(e.Woken, func(p int) bool { return slices.Contains(o.Woken, p) }) {
		return false
	}
	return !meet(e.Writes, o.Writes) && !meet(e.Writes, o.Reads) && !meet(e.Reads, o.Writes)
}

// meet reports whether two sets have a common name.
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

// add adds names to a set. The first ones are shared with their source, so their
// slice is never written to.
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

// by adds the effect of the command args with this reply, executed in database db.
func (e *Effect) by(s *spec, db int, args []string, reply string) {
	keys := inDatabase(db, s.keys(args))
	dest := s.dest
	if dest < 0 || dest > len(keys) {
		dest = len(keys)
	}
	if isError(reply) && !s.partly || s.wroteNothing != nil && s.wroteNothing(args, reply) {
		dest = 0
	}
	e.writes(keys[:dest]...)
	e.reads(keys[dest:]...)
}

// inDatabase returns the names of keys of a database; in database 0 a key is its
// own name.
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

// scriptCache is written when all scripts are forgotten, and read when one is used
// or added.
const scriptCache = "\x00scripts"

func scriptName(sha string) string      { return "\x00script/" + sha }
func channelName(channel string) string { return "\x00channel/" + channel }

// waiters is written by commands that begin to wait for a key and by those that serve a waiting
// client, because clients are served in the order of their arrival.
const waiters = "\x00waiters"

// patterns is written by subscriptions to a pattern, and read by publishers.
const patterns = "\x00patterns"
