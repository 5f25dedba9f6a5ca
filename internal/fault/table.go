package fault

import (
	"time"

	"github.com/lockbench/lockbench"
)

// Kinds of faults of clients, the server and the network between them. Their rows describe each.
const (
	Crash       Kind = "crash"
	DieBefore   Kind = "die-before" // a crash before a command runs
	DieAfter    Kind = "die-after"  // a crash after it ran
	Pause       Kind = "pause"
	LostReply   Kind = "lost-reply"
	SlowReply   Kind = "slow-reply"
	Cut         Kind = "cut"
	Cancel      Kind = "cancel"
	Skew        Kind = "skew"
	ScriptFlush Kind = "script-flush"
	ServerPause Kind = "server-pause"
	Restart     Kind = "restart"
	RestartAOF  Kind = "restart-aof"
	ClientKill  Kind = "client-kill"
	SessionKill Kind = "session-kill"
	Failover    Kind = "failover"
	LeaderLost  Kind = "leader-lost"
	Down        Kind = "down"
	Slow        Kind = "slow"
	Throttle    Kind = "throttle"
	BlackHole   Kind = "black-hole"
	ClockStep   Kind = "clock-step"
	Evict       Kind = "evict"
	// Live runs record standstills that package standstill detects; explorations inject them.
	Standstill        Kind = "standstill"
	ServerStandstill  Kind = "server-standstill"
	MachineStandstill Kind = "machine-standstill" // both
)

// longestSilence bounds how long a server does not answer: clients wait 5 s for a reply, and a
// command that they then give up could take effect at any later time.
const longestSilence = 4 * time.Second

// Settings that several faults have.
var (
	chance  = Setting{Name: "p"}
	lasting = Setting{Name: "for", Zero: PastLease}
	silence = Setting{Name: "for", Zero: PastLease, Most: longestSilence}
	servers = Setting{Name: "n", Servers: true}
)

// byHolder are the cells about owners that work past their leases.
var byHolder = []lockbench.Cell{
	lockbench.Exclusion.At(lockbench.Outlived),
	lockbench.OwnerRelease.At(lockbench.Outlived),
	lockbench.LossReported.At(lockbench.Outlived),
}

const (
	// calls are the effects of a server's loss on calls under way and on its scripts.
	calls = lockbench.LostReply | lockbench.ScriptFlush
	// late is the reason why faults that only take time bring no condition.
	late = "every command runs and every reply arrives, only late"
	// onCommand is the occasion of most faults of clients.
	onCommand = "at a command, in the middle of a call"
)

func only(g lockbench.Guarantee, under lockbench.Conditions) []lockbench.Cell {
	return []lockbench.Cell{g.At(under)}
}

// every returns the usual fault by the clock: at first at, and then every then, while a lock is
// held.
func every(at, then time.Duration) Fault { return Fault{At: at, Every: then, While: Held} }

// rows is the table. Lists keep its order.
var rows = []Row{
	{
		Kind: Crash, Summary: "a process dies at a command; a fresh one takes its place", Target: Client,
		Conditions: lockbench.Crash, Exercises: only(lockbench.Recovery, lockbench.Crash), Records: []string{"death"},
		Live:     &Live{On: onCommand, Usual: Fault{P: 0.001}, Settings: []Setting{chance}},
		Explored: []Kind{DieBefore, DieAfter}, Locktest: true,
	},
	{
		Kind: Pause, Summary: "a process stands still past its lease, after a grant or before a command", Target: Client,
		Conditions: lockbench.Pause, Exercises: byHolder, Records: []string{"pause", "resume"},
		Live:     &Live{On: "after a grant, or before a command of a client that holds a lock", Usual: Fault{P: 0.01, While: Held}, Settings: []Setting{chance, lasting}},
		Explored: []Kind{Pause},
	},
	{
		Kind: Standstill, Summary: "all processes, the server, or both stand still for 0.3 to 3 s, which is seen", Target: Process,
		Conditions: lockbench.Pause, Exercises: byHolder, Records: []string{string(Standstill), string(ServerStandstill)},
		Explored: []Kind{Standstill, ServerStandstill, MachineStandstill}, OnRequest: true,
	},
	{
		Kind: LostReply, Summary: "a command runs and its reply is lost", Target: Client,
		Conditions: lockbench.LostReply, Exercises: only(lockbench.Recovery, lockbench.LostReply), Records: []string{string(LostReply)},
		Live:     &Live{On: onCommand, Usual: Fault{P: 0.005}, Settings: []Setting{chance}, Needs: Replies},
		Explored: []Kind{LostReply},
	},
	{
		Kind: SlowReply, Summary: "a command runs and its reply arrives later, which is a step of its own", Target: Client,
		Conditions: lockbench.Cancel, Records: []string{RunsLate}, // it is late, and not lost: the client may give it up
		Unexercised: "a pause before the next command shows most of it; only locks that keep in memory what they were answered tell the two apart",
		Explored:    []Kind{SlowReply}, OnRequest: true,
	},
	{
		Kind: Cut, Summary: "the connection breaks before a command is sent", Target: Client,
		Conditions: lockbench.LostReply, Exercises: only(lockbench.Recovery, lockbench.LostReply), Records: []string{string(Cut)},
		Live:     &Live{On: onCommand, Usual: Fault{P: 0.005}, Settings: []Setting{chance}, Needs: Replies},
		Explored: []Kind{Cut},
	},
	{
		Kind: Cancel, Summary: "the context of an acquire, release or extend ends on the way, or is over before the call", Target: Client,
		Conditions: lockbench.Cancel, Exercises: only(lockbench.Recovery, lockbench.Cancel), Records: []string{string(Cancel), RunsLate},
		Live:     &Live{On: "in the middle of a call of the lock", Usual: Fault{P: 0.01}, Settings: []Setting{chance}},
		Explored: []Kind{Cancel}, Locktest: true,
	},
	{
		Kind: Skew, Summary: "the clocks of processes are ahead and behind, by turns", Target: Process,
		Conditions: lockbench.Skew, Exercises: only(lockbench.Exclusion, lockbench.Skew), Records: []string{string(Skew)},
		Live:     &Live{Settings: []Setting{{Name: "by", Zero: PastTolerance}}},
		Explored: []Kind{Skew},
	},
	{
		Kind: ScriptFlush, Summary: "SCRIPT FLUSH", Target: Server,
		Conditions: lockbench.ScriptFlush, Exercises: only(lockbench.Answers, lockbench.ScriptFlush), Records: []string{string(ScriptFlush)},
		Live:     &Live{Usual: every(500*time.Millisecond, 500*time.Millisecond), Needs: Ours | Redis},
		Explored: []Kind{ScriptFlush},
	},
	{
		Kind: ServerPause, Summary: "the server is stopped (SIGSTOP) and goes on", Target: Server,
		Untouched: "it stops for no longer than clients wait, so every command is answered, only late", Records: []string{string(ServerPause), ServerResume},
		Live: &Live{Usual: every(500*time.Millisecond, 3*time.Second), Settings: []Setting{silence}, Needs: Ours | Suspends},
	},
	{
		Kind: Restart, Summary: "the server is killed (SIGKILL) and started empty", Target: Server,
		Conditions: lockbench.StateLoss | calls, Exercises: only(lockbench.Exclusion, lockbench.StateLoss), Records: []string{string(Restart), string(Cut)},
		Live:     &Live{Usual: every(500*time.Millisecond, time.Second), Needs: Ours | Restarts},
		Explored: []Kind{Restart},
	},
	{
		Kind: RestartAOF, Summary: "the server is killed (SIGKILL) and started from its append-only file, or its own data", Target: Server,
		Conditions: calls, Exercises: only(lockbench.Answers, lockbench.ScriptFlush), Records: []string{string(RestartAOF), LeasesProlonged, string(ScriptFlush), string(Cut)},
		Live: &Live{Usual: every(500*time.Millisecond, time.Second), Needs: Ours | Keeps},
	},
	{
		Kind: ClientKill, Summary: "CLIENT KILL of all clients", Target: Server,
		Conditions: lockbench.LostReply, Exercises: only(lockbench.Recovery, lockbench.LostReply), Records: []string{string(ClientKill), string(Cut)},
		Live: &Live{Usual: every(500*time.Millisecond, time.Second), Needs: Ours | OwnProcess | Redis},
	},
	{
		Kind: SessionKill, Summary: "the sessions of all clients are ended by the server, as an administrator does", Target: Server,
		Conditions: lockbench.SessionKilled | lockbench.LostReply, Exercises: only(lockbench.Exclusion, lockbench.SessionKilled),
		Records: []string{KillingSessions, string(SessionKill), string(Cut)},
		Live:    &Live{Usual: every(500*time.Millisecond, time.Second), Needs: Ours | Sessions},
	},
	{
		Kind: Failover, Summary: "the primary is lost before it replicated a grant; its replica takes over", Target: Server,
		Conditions: lockbench.Failover | calls, Exercises: only(lockbench.Exclusion, lockbench.Failover), Records: []string{string(Failover), string(ScriptFlush), string(Cut)},
		Live: &Live{On: "that the replica does not have", Usual: every(300*time.Millisecond, 500*time.Millisecond), Needs: Ours | OwnProcess | Replicates},
	},
	{
		Kind: LeaderLost, Summary: "the leader of three members is killed; another takes over, and it comes back with its data", Target: Server,
		Untouched: "all that was acknowledged is kept; calls under way fail or are late, and leases last longer", Records: []string{string(LeaderLost), LeasesProlonged},
		Live: &Live{Usual: every(500*time.Millisecond, 5*time.Second), Needs: Ours | Elects,
			NotWith: ServerPause, Why: "in which other members elect a leader, too, at a time that is not known"},
	},
	{
		Kind: Down, Summary: "n servers of a design that locks on several are killed, for good or for a while", Target: Server,
		Conditions: lockbench.StateLoss | calls, Records: []string{string(Down), string(Restart), string(Cut)},
		Unexercised: "what is lost depends on how many servers a design needs: fewer than half touch no lock on a quorum",
		Live: &Live{Usual: Fault{At: 500 * time.Millisecond, N: 1, While: Held}, Settings: []Setting{servers, {Name: "for"}}, // zero is for good
			Needs: Ours | OwnProcess | Redis, Several: true},
	},
	{
		Kind: Slow, Summary: "commands and replies of a process are late by so much, for a while", Target: Network,
		Untouched: late, Records: []string{string(Slow)},
		Live: &Live{Usual: Fault{At: 500 * time.Millisecond, Every: 2 * time.Second, By: 100 * time.Millisecond, While: Held},
			Settings: []Setting{{Name: "by", Zero: PastTolerance}, lasting}, Needs: TCP},
	},
	{
		Kind: Throttle, Summary: "a process sends and receives at n KB/s, for a while", Target: Network,
		Untouched: late, Records: []string{string(Throttle)},
		Live: &Live{Usual: Fault{At: 500 * time.Millisecond, Every: 2 * time.Second, N: 1, While: Held},
			Settings: []Setting{{Name: "n"}, lasting}, Needs: TCP},
	},
	{
		Kind: BlackHole, Summary: "nothing of a process gets through for a while, then its connections break", Target: Network,
		Conditions: lockbench.LostReply, Exercises: only(lockbench.Recovery, lockbench.LostReply), Records: []string{string(BlackHole), string(Cut)},
		Live: &Live{Usual: every(300*time.Millisecond, 2*time.Second), Settings: []Setting{silence}, Needs: TCP},
	},
	{
		Kind: ClockStep, Summary: "the clocks of n servers are stepped by so much, and back at the next occurrence", Target: Server,
		Conditions: lockbench.StateLoss | lockbench.Skew,
		Exercises:  []lockbench.Cell{lockbench.Exclusion.At(lockbench.StateLoss), lockbench.Exclusion.At(lockbench.Skew)},
		Records:    []string{Stepping, string(ClockStep)},
		Live: &Live{Usual: Fault{At: 500 * time.Millisecond, Every: time.Second, N: 1, While: Held},
			Settings: []Setting{{Name: "by", Zero: PastLease, Signed: true}, servers}, Needs: Ours | OwnProcess | OwnClock | Redis,
			NotWith: Failover, Why: "whose replica goes by the right time"},
	},
	{
		Kind: Evict, Summary: "every key that has a TTL is evicted (maxmemory)", Target: Server,
		Conditions: lockbench.StateLoss, Exercises: only(lockbench.Exclusion, lockbench.StateLoss), Records: []string{Evicting, string(Evict)},
		Live: &Live{Usual: every(500*time.Millisecond, time.Second), Needs: Ours | OwnProcess | Redis},
	},
}
