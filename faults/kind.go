package faults

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/suggest"
)

// A Kind is something that can go wrong.
type Kind string

// The kinds, of what befalls clients, the server and the network between them.
const (
	// Pause: a process stands still, between a grant and what its client does with
	// it or before a command, with all that it does in the background.
	Pause Kind = "pause"
	// Crash: a process dies before or after a command, with all of its clients; a
	// fresh one takes its place.
	Crash Kind = "crash"
	// LostReply: a command runs, its reply never reaches the lock.
	LostReply Kind = "lost-reply"
	// Cut: a command is never sent, the lock is told that its connection broke.
	Cut Kind = "cut"
	// Cancel: the context of an acquire, a release or an extend ends, before a command
	// of it, after one or while one is under way.
	Cancel Kind = "cancel"
	// Skew: the clocks of processes are off the server's.
	Skew Kind = "skew"
	// ScriptFlush: the server forgets its scripts.
	ScriptFlush Kind = "script-flush"
	// ServerPause: the server's process is stopped for a while.
	ServerPause Kind = "server-pause"
	// Restart: the server is killed and started anew, empty.
	Restart Kind = "restart"
	// RestartAOF: the server is killed and started anew with all that it had
	// acknowledged, from its append-only file; but without its scripts.
	RestartAOF Kind = "restart-aof"
	// ClientKill: the server hangs up on all clients.
	ClientKill Kind = "client-kill"
	// Failover: the server is lost before it passed a grant on to its replica, which
	// takes its place.
	Failover Kind = "failover"
	// Down: some of the servers that a design locks on are killed and stay away.
	Down Kind = "down"
	// Slow: what a process sends to the server and is answered comes late.
	Slow Kind = "slow"
	// Throttle: it comes a few bytes at a time.
	Throttle Kind = "throttle"
	// BlackHole: it does not come at all, and the connection breaks in the end.
	BlackHole Kind = "black-hole"
	// Evict: the server evicts every key that has a TTL, as if its memory were full.
	Evict Kind = "evict"
	// ClockStep: the clock of a server is set off, and right again at the next strike.
	ClockStep Kind = "clock-step"
)

// A target is whom a kind of fault befalls.
type target uint8

const (
	ofClient  target = iota // a client, on one of its occasions
	ofProcess               // a process, for as long as it lives
	ofServer                // the server, by the clock
	ofNetwork               // the connections of one process, by the clock
)

// A trait is what there is to know of a kind.
type trait struct {
	kind    Kind
	summary string
	target  target
	// usual is the fault as it is when nothing but its kind is said; Default.For
	// and By of zero follow from the lease.
	usual Fault
	// allowed are the settings that mean something, beside at, every and while.
	allowed string
	// owned tells on which kinds of server it may be done: see [Check].
	owned ownership
	// decides are the guarantees that it puts to the test.
	decides []lockbench.Guarantee
}

// An ownership is what lockbench must have to do with a server to harm it.
type ownership uint8

const (
	anyServer  ownership = iota // it harms none
	tcpServer                   // it harms none, but stands in the way to a server
	ourServer                   // private or embedded
	ownProcess                  // private: a process of its own
)

// outlived are the guarantees about owners that work past their leases.
var outlived = []lockbench.Guarantee{lockbench.Overrun, lockbench.OwnerRelease, lockbench.LossReported}

func only(g lockbench.Guarantee) []lockbench.Guarantee { return []lockbench.Guarantee{g} }

var traits = []trait{
	{Pause, "a process stands still past its lease, after a grant or before a command", ofClient,
		Fault{P: 0.01, While: Held}, "p for", anyServer, outlived},
	{Crash, "a process dies at a command; a fresh one takes its place", ofClient,
		Fault{P: 0.001}, "p", anyServer, only(lockbench.Recovery)},
	{LostReply, "a command runs and its reply is lost", ofClient,
		Fault{P: 0.005}, "p", anyServer, only(lockbench.LostReply)},
	{Cut, "the connection breaks before a command is sent", ofClient,
		Fault{P: 0.005}, "p", anyServer, only(lockbench.LostReply)},
	{Cancel, "the context of an acquire, release or extend ends on the way", ofClient,
		Fault{P: 0.01}, "p", anyServer, only(lockbench.Cancel)},
	{Skew, "the clocks of processes are ahead and behind, by turns", ofProcess,
		Fault{}, "by", anyServer, only(lockbench.Skew)},
	{ScriptFlush, "SCRIPT FLUSH", ofServer,
		Fault{At: 500 * time.Millisecond, Every: 500 * time.Millisecond, While: Held}, "", ourServer, only(lockbench.ScriptFlush)},
	{ServerPause, "the server is stopped (SIGSTOP) and goes on", ofServer,
		Fault{At: time.Second, Every: 3 * time.Second, While: Held}, "for", ownProcess, nil},
	{Restart, "the server is killed (SIGKILL) and started empty", ofServer,
		Fault{At: time.Second, Every: 2 * time.Second, While: Held}, "", ownProcess, only(lockbench.Restart)},
	{RestartAOF, "the server is killed (SIGKILL) and started from its append-only file", ofServer,
		Fault{At: time.Second, Every: 2 * time.Second, While: Held}, "", ownProcess, only(lockbench.ScriptFlush)},
	{ClientKill, "CLIENT KILL of all clients", ofServer,
		Fault{At: 500 * time.Millisecond, Every: time.Second, While: Held}, "", ownProcess, only(lockbench.LostReply)},
	{Failover, "the primary is lost before it replicated a grant; its replica takes over", ofServer,
		Fault{At: time.Second, Every: 2 * time.Second, While: Held}, "", ownProcess, only(lockbench.Failover)},
	{Down, "n servers of a design that locks on several are killed, for good or for a while", ofServer,
		Fault{At: time.Second, N: 1, While: Held}, "n for", ownProcess, nil},
	{Slow, "commands and replies of a process are late by so much, for a while", ofNetwork,
		Fault{At: 500 * time.Millisecond, Every: 2 * time.Second, By: 100 * time.Millisecond, While: Held}, "by for", tcpServer, nil},
	{Throttle, "a process sends and receives at n KB/s, for a while", ofNetwork,
		Fault{At: 500 * time.Millisecond, Every: 2 * time.Second, N: 1, While: Held}, "n for", tcpServer, nil},
	{BlackHole, "nothing of a process gets through for a while, then its connections break", ofNetwork,
		Fault{At: 500 * time.Millisecond, Every: 2 * time.Second, While: Held}, "for", tcpServer, only(lockbench.LostReply)},
	{ClockStep, "the clocks of n servers are stepped by so much, and back at the next strike", ofServer,
		Fault{At: time.Second, Every: time.Second, N: 1, While: Held}, "by n", ownProcess, []lockbench.Guarantee{lockbench.Restart, lockbench.Skew}},
	{Evict, "every key that has a TTL is evicted (maxmemory)", ofServer,
		Fault{At: time.Second, Every: 2 * time.Second, While: Held}, "", ownProcess, only(lockbench.Restart)},
}

// trait returns what there is to know of k, nil when there is no such kind.
func (k Kind) trait() *trait {
	for i := range traits {
		if traits[i].kind == k {
			return &traits[i]
		}
	}
	return nil
}

// Summary says in a few words what the kind is; nothing where there is no such kind.
func (k Kind) Summary() string {
	if t := k.trait(); t != nil {
		return t.summary
	}
	return ""
}

// Kinds lists every kind of fault.
func Kinds() []Kind {
	var all []Kind
	for i := range traits {
		all = append(all, traits[i].kind)
	}
	return all
}

// find returns the trait of the kind with this name; the error lists near matches.
func find(name string) (*trait, error) {
	if t := Kind(name).trait(); t != nil {
		return t, nil
	}
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return nil, suggest.Unknown("fault", name, names)
}
