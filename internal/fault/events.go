package fault

import "github.com/lockbench/lockbench"

// Notes of events that are not the name of a fault.
const (
	RunsLate     = "late"
	TakenAway    = "taken-away"
	ServerResume = "server-resume"
	Evicting     = "evicting"
	// KillingSessions begins a session kill.
	KillingSessions = "killing-sessions"
	Stepping        = "stepping"
	// LeasesProlonged is recorded while a server that prolongs leases is down, and when it answers again.
	LeasesProlonged = "leases-prolonged"
	// Losing and Loss are events of a server that lockbench did not start. Lockbench did not cause
	// them.
	Losing = "server-losing"
	Loss   = "server-loss"
	// TimeMove is recorded by explorations that let time pass while clients could go on.
	TimeMove = "time-move"
)

// Decisive is the Value of a script flush in an exploration that ran the same schedule with a flush
// that does nothing, and saw no operation fail. Live runs cannot know that, and record 0.
const Decisive = 1

// An Event describes an event of a fault in histories: the note of a fault event, or another event
// that a fault brings.
type Event struct {
	Note string
	// Says describes the event in words.
	Says string
	Act  Act
	// Brings are the conditions that the event itself brings.
	Brings lockbench.Conditions
	Phase  Phase
	// Line names the time line of an event that begins or ends something.
	Line string
}

// An Act is the meaning of an event to the checker: the holds and calls that it concerns.
type Act uint8

// The acts.
const (
	NoAct       Act = iota // other events tell its effects on clients, if it has any
	OwnKind                // it is no fault event: the history has an event kind for it
	AffectsCall            // it affects the call that the client has under way: its reply is lost
	CutsCall               // as AffectsCall; and the command did not run
	ActsLate               // a command ran after its call
	Takes                  // a command removed a key that another client held
	SetsClock              // the client's clock is ahead by Value ns
	Flushes                // the server forgets scripts
	Forgets                // the server forgets its grants
	Revives                // as Forgets, and the server may remember them later
	Steps                  // the server's clock is stepped by Value ns
	StandsStill            // nobody could act for Value ns
	Delays                 // answers come late, or not at all, for a time
	Prolongs               // the server ends no lease for Value ns, or begins all anew
	Passes                 // time passed for Value ns while clients could have gone on
)

// A Phase is the part of an occurrence that an event marks.
type Phase uint8

// The phases.
const (
	Once   Phase = iota
	Begins       // it goes on until an event of the same line ends it
	Ends
	Lasts // it goes on for Value ns, if that is above zero
)

// events lists the events of faults. An occurrence of several events has one row for each.
var events = []Event{
	{Note: "pause", Says: "the client stands still", Act: OwnKind, Brings: lockbench.Pause, Phase: Begins, Line: "pause"},
	{Note: "resume", Says: "it goes on", Act: OwnKind, Phase: Ends, Line: "pause"},
	{Note: "death", Says: "the client died: its last event", Act: OwnKind, Brings: lockbench.Crash},
	{Note: string(LostReply), Says: "the command ran, its answer never came", Act: AffectsCall, Brings: lockbench.LostReply},
	{Note: string(Cut), Says: "the connection broke, the command did not run", Act: CutsCall, Brings: lockbench.LostReply},
	{Note: string(Cancel), Says: "the context of the call ended, or its read timed out", Act: AffectsCall, Brings: lockbench.Cancel},
	{Note: RunsLate, Says: "a command of the client ran after the call that sent it had ended", Act: ActsLate, Brings: lockbench.Cancel},
	{Note: TakenAway, Says: "a command of client `Value` took from the server what this client held of `Key`", Act: Takes},
	{Note: string(Skew), Says: "the client's clock is ahead by `Value` ns, for the whole history", Act: SetsClock, Brings: lockbench.Skew},
	{Note: string(ScriptFlush), Says: "the server forgot its scripts; `Value` is 1 if an exploration found that no operation fails without that", Act: Flushes, Brings: lockbench.ScriptFlush},
	{Note: string(ServerPause), Says: "the server stands still", Act: Delays, Phase: Begins, Line: string(ServerPause)},
	{Note: ServerResume, Says: "it goes on", Phase: Ends, Line: string(ServerPause)},
	{Note: string(Restart), Says: "the server forgot everything", Act: Forgets, Brings: lockbench.StateLoss},
	{Note: string(RestartAOF), Says: "the server was killed and started with all that it had acknowledged", Act: Delays},
	{Note: LeasesProlonged, Says: "a restarted server ends no lease for `Value` ns, or begins those that it kept anew if that is zero; at some time between two of these events", Act: Prolongs},
	{Note: string(ClientKill), Says: "the server hung up on all clients; `cut` says whose calls that broke"},
	{Note: KillingSessions, Says: "the server begins to end the sessions of all clients", Act: Forgets, Brings: lockbench.SessionKilled, Phase: Begins, Line: string(SessionKill)},
	{Note: string(SessionKill), Says: "it ended them, at some time between the two events; `cut` says whose calls that broke", Act: Forgets, Brings: lockbench.SessionKilled, Phase: Ends, Line: string(SessionKill)},
	{Note: string(Failover), Says: "a replica took over that may know neither the newest grants nor the newest releases", Act: Revives, Brings: lockbench.Failover},
	{Note: string(LeaderLost), Says: "the leader of the servers was killed; another took over, and it was started again", Act: Delays},
	{Note: string(Down), Says: "`Value` servers were killed; `restart` says when one is back, empty", Act: Delays},
	{Note: string(Slow), Says: "what the client's process sends and is answered comes late, for `Value` ns", Act: Delays, Phase: Lasts},
	{Note: string(Throttle), Says: "it comes a few bytes at a time, for `Value` ns", Act: Delays, Phase: Lasts},
	{Note: string(BlackHole), Says: "nothing of the client's process gets through, for `Value` ns; `cut` says whose calls that broke", Act: Delays, Phase: Lasts},
	{Note: Stepping, Says: "the clock of the server begins to be stepped by `Value` ns, ahead or back", Act: Steps, Brings: lockbench.StateLoss | lockbench.Skew, Phase: Begins, Line: string(ClockStep)},
	{Note: string(ClockStep), Says: "it was stepped, at some time between the two events", Act: Steps, Brings: lockbench.StateLoss | lockbench.Skew, Phase: Ends, Line: string(ClockStep)},
	{Note: string(Standstill), Says: "the process that drives the clients stands still for `Value` ns: seen in a live run, made in an exploration", Act: StandsStill, Brings: lockbench.Pause, Phase: Lasts},
	{Note: string(ServerStandstill), Says: "a server, or the way to it, stands still for `Value` ns: seen in a live run, made in an exploration", Act: StandsStill, Brings: lockbench.Pause, Phase: Lasts},
	{Note: TimeMove, Says: "in an exploration, time passes for `Value` ns, and clients that could go on may not", Act: Passes, Phase: Lasts},
	{Note: Evicting, Says: "the server begins to forget every key with a TTL", Act: Forgets, Brings: lockbench.StateLoss, Phase: Begins, Line: string(Evict)},
	{Note: Losing, Says: "a server of the user's may forget what it holds from here on: it was restarted, flushed or replaced, or evicted keys", Act: Forgets, Brings: lockbench.StateLoss, Phase: Begins, Line: Loss},
	{Note: Loss, Says: "it was seen, and is over", Act: Forgets, Brings: lockbench.StateLoss, Phase: Ends, Line: Loss},
	{Note: string(Evict), Says: "it forgot them, at some time between the two events", Act: Forgets, Brings: lockbench.StateLoss, Phase: Ends, Line: string(Evict)},
}

// byNote finds events.
var byNote = func() map[string]Event {
	all := map[string]Event{}
	for _, e := range events {
		all[e.Note] = e
	}
	return all
}()

// EventOf returns the event of a note. The event of an unknown note is the zero Event, which
// happens once.
func EventOf(note string) Event { return byNote[note] }
