package faults

import (
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/suggest"
)

// A Kind is something that can go wrong.
type Kind string

// The kinds, of what happens to clients, the server and the network between them.
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
	// ClockStep: the clock of a server is set off, and right again at the next occurrence.
	ClockStep Kind = "clock-step"
)

// A target is what a kind of fault happens to.
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
	// owned says on which kinds of server it may be done: see [Check].
	owned ownership
	// conditions are those that it brings; where it brings none, untouched says why.
	conditions lockbench.Conditions
	untouched  string
	// exercises are the cells that it puts to the test.
	exercises []lockbench.Cell
}

// An ownership is what lockbench must have to do with a server to harm it.
type ownership uint8

const (
	anyServer  ownership = iota // it harms none
	tcpServer                   // it harms none, but stands in the way to a server
	ourServer                   // private or embedded
	ownProcess                  // private: a process of its own
)

// byHolder are the cells about owners that work past their leases.
var byHolder = []lockbench.Cell{
	lockbench.Exclusion.At(lockbench.Outlived),
	lockbench.OwnerRelease.At(lockbench.Outlived),
	lockbench.LossReported.At(lockbench.Outlived),
}

// calls are what happens to calls that are under way when a server is lost, and the scripts
// that it had.
const calls = lockbench.LostReply | lockbench.ScriptFlush

func only(g lockbench.Guarantee, under lockbench.Conditions) []lockbench.Cell {
	return []lockbench.Cell{g.At(under)}
}

var traits = []trait{
	{
		kind: Pause, summary: "a process stands still past its lease, after a grant or before a command", target: ofClient,
		usual: Fault{P: 0.01, While: Held}, allowed: "p for", owned: anyServer,
		conditions: lockbench.Pause, exercises: byHolder,
	},
	{
		kind: Crash, summary: "a process dies at a command; a fresh one takes its place", target: ofClient,
		usual: Fault{P: 0.001}, allowed: "p", owned: anyServer,
		conditions: lockbench.Crash, exercises: only(lockbench.Recovery, lockbench.Crash),
	},
	{
		kind: LostReply, summary: "a command runs and its reply is lost", target: ofClient,
		usual: Fault{P: 0.005}, allowed: "p", owned: anyServer,
		conditions: lockbench.LostReply, exercises: only(lockbench.Recovery, lockbench.LostReply),
	},
	{
		kind: Cut, summary: "the connection breaks before a command is sent", target: ofClient,
		usual: Fault{P: 0.005}, allowed: "p", owned: anyServer,
		conditions: lockbench.LostReply, exercises: only(lockbench.Recovery, lockbench.LostReply),
	},
	{
		kind: Cancel, summary: "the context of an acquire, release or extend ends on the way", target: ofClient,
		usual: Fault{P: 0.01}, allowed: "p", owned: anyServer,
		conditions: lockbench.Cancel, exercises: only(lockbench.Recovery, lockbench.Cancel),
	},
	{
		kind: Skew, summary: "the clocks of processes are ahead and behind, by turns", target: ofProcess,
		allowed: "by", owned: anyServer,
		conditions: lockbench.Skew, exercises: only(lockbench.Exclusion, lockbench.Skew),
	},
	{
		kind: ScriptFlush, summary: "SCRIPT FLUSH", target: ofServer,
		usual: Fault{At: 500 * time.Millisecond, Every: 500 * time.Millisecond, While: Held}, owned: ourServer,
		conditions: lockbench.ScriptFlush, exercises: only(lockbench.Answers, lockbench.ScriptFlush),
	},
	{
		kind: ServerPause, summary: "the server is stopped (SIGSTOP) and goes on", target: ofServer,
		usual: Fault{At: time.Second, Every: 3 * time.Second, While: Held}, allowed: "for", owned: ownProcess,
		untouched: "it stops for no longer than clients wait, so every command is answered, only late",
	},
	{
		kind: Restart, summary: "the server is killed (SIGKILL) and started empty", target: ofServer,
		usual: Fault{At: time.Second, Every: 2 * time.Second, While: Held}, owned: ownProcess,
		conditions: lockbench.StateLoss | calls, exercises: only(lockbench.Exclusion, lockbench.StateLoss),
	},
	{
		kind: RestartAOF, summary: "the server is killed (SIGKILL) and started from its append-only file", target: ofServer,
		usual: Fault{At: time.Second, Every: 2 * time.Second, While: Held}, owned: ownProcess,
		conditions: calls, exercises: only(lockbench.Answers, lockbench.ScriptFlush),
	},
	{
		kind: ClientKill, summary: "CLIENT KILL of all clients", target: ofServer,
		usual: Fault{At: 500 * time.Millisecond, Every: time.Second, While: Held}, owned: ownProcess,
		conditions: lockbench.LostReply, exercises: only(lockbench.Recovery, lockbench.LostReply),
	},
	{
		kind: Failover, summary: "the primary is lost before it replicated a grant; its replica takes over", target: ofServer,
		usual: Fault{At: time.Second, Every: 2 * time.Second, While: Held}, owned: ownProcess,
		conditions: lockbench.Failover | calls, exercises: only(lockbench.Exclusion, lockbench.Failover),
	},
	{
		kind: Down, summary: "n servers of a design that locks on several are killed, for good or for a while", target: ofServer,
		usual: Fault{At: time.Second, N: 1, While: Held}, allowed: "n for", owned: ownProcess,
		conditions: lockbench.StateLoss | calls,
	},
	{
		kind: Slow, summary: "commands and replies of a process are late by so much, for a while", target: ofNetwork,
		usual: Fault{At: 500 * time.Millisecond, Every: 2 * time.Second, By: 100 * time.Millisecond, While: Held}, allowed: "by for", owned: tcpServer,
		untouched: "every command runs and every reply arrives, only late",
	},
	{
		kind: Throttle, summary: "a process sends and receives at n KB/s, for a while", target: ofNetwork,
		usual: Fault{At: 500 * time.Millisecond, Every: 2 * time.Second, N: 1, While: Held}, allowed: "n for", owned: tcpServer,
		untouched: "every command runs and every reply arrives, only late",
	},
	{
		kind: BlackHole, summary: "nothing of a process gets through for a while, then its connections break", target: ofNetwork,
		usual: Fault{At: 500 * time.Millisecond, Every: 2 * time.Second, While: Held}, allowed: "for", owned: tcpServer,
		conditions: lockbench.LostReply, exercises: only(lockbench.Recovery, lockbench.LostReply),
	},
	{
		kind: ClockStep, summary: "the clocks of n servers are stepped by so much, and back at the next occurrence", target: ofServer,
		usual: Fault{At: time.Second, Every: time.Second, N: 1, While: Held}, allowed: "by n", owned: ownProcess,
		conditions: lockbench.StateLoss | lockbench.Skew,
		exercises:  []lockbench.Cell{lockbench.Exclusion.At(lockbench.StateLoss), lockbench.Exclusion.At(lockbench.Skew)},
	},
	{
		kind: Evict, summary: "every key that has a TTL is evicted (maxmemory)", target: ofServer,
		usual: Fault{At: time.Second, Every: 2 * time.Second, While: Held}, owned: ownProcess,
		conditions: lockbench.StateLoss, exercises: only(lockbench.Exclusion, lockbench.StateLoss),
	},
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
