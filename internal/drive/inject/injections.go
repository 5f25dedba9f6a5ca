package inject

import (
	"context"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/service/relay"
)

// An injection implements a fault of the table. Its fields depend on the fault's
// target.
type injection struct {
	// at is the set of moments in a client's work at which the fault may occur. command is called
	// before each request at such a moment, and may make the fault occur; c is the client that sends
	// the request, nil if a goroutine of the lock does, such as a watchdog.
	at      occasion
	command func(p *Process, r *request, c *Client, plan *plan) error

	// begin lets it occur in a process that begins.
	begin func(p *Process, plan *plan, env *design.Environment)

	// open prepares the servers before processes exist, prepare before faults occur.
	open, prepare func(in *Injector, ctx context.Context, p *plan) error
	// occur lets it occur once on the server, or on the connections of a process; with
	// counts it counts its effects itself.
	occur  func(in *Injector, ctx context.Context, p *plan) error
	counts bool
	// network is what it does to the network of a process.
	network func(p *plan) relay.Fault
}

// An occasion is a point at which a fault of a client may occur.
type occasion uint8

const (
	atCommand occasion = 1 << iota // a command that passes by
	atForeign                      // a command of a client library that is not go-redis
	atCall                         // a call of the lock
	atGrant                        // a grant, once it is recorded
	atUnseen                       // a grant or release of a lock with commands that cannot be seen
)

// injections implements each live fault.
var injections = map[fault.Kind]injection{
	fault.Crash:     {at: atCommand | atUnseen, command: (*Process).crashAt},
	fault.Pause:     {at: atCommand | atGrant, command: (*Process).pauseAt},
	fault.LostReply: {at: atCommand | atForeign, command: (*Process).loseReplyTo},
	fault.Cut:       {at: atCommand | atForeign, command: (*Process).cutAt},
	fault.Cancel:    {at: atCall},

	fault.Skew: {begin: (*Process).setOff},

	fault.ScriptFlush: {occur: (*Injector).flushScripts},
	fault.ServerPause: {occur: (*Injector).pauseServer},
	fault.Restart:     {occur: (*Injector).restartEmpty},
	fault.RestartAOF:  {occur: (*Injector).restartFromAOF, prepare: (*Injector).keepLogs},
	fault.ClientKill:  {occur: (*Injector).killClients},
	fault.SessionKill: {occur: (*Injector).killSessions},
	fault.Failover:    {occur: (*Injector).failOver, prepare: (*Injector).replicate, counts: true},
	fault.LeaderLost:  {occur: (*Injector).loseLeader, open: (*Injector).addMembers, prepare: (*Injector).watchElections},
	fault.Down:        {occur: (*Injector).takeDown},
	fault.ClockStep:   {occur: (*Injector).stepClocks, open: (*Injector).ownClocks},
	fault.Evict:       {occur: (*Injector).evict},

	fault.Slow: {occur: (*Injector).disturbNetwork, counts: true,
		network: func(p *plan) relay.Fault { return relay.Fault{Delay: p.By} }},
	fault.Throttle: {occur: (*Injector).disturbNetwork, counts: true,
		network: func(p *plan) relay.Fault { return relay.Fault{Rate: 1000 * int(p.N)} }}, // N is in KB/s
	fault.BlackHole: {occur: (*Injector).disturbNetwork, counts: true,
		network: func(*plan) relay.Fault { return relay.Fault{Discard: true} }},
}

// endings undo the lasting effects of faults, in this order: a server that is down has
// no clock.
var endings = []func(*Injector){(*Injector).endReplica, (*Injector).bringUp, (*Injector).resetClocks}
