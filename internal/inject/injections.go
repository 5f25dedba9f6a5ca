package inject

import (
	"context"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/fault"
)

// An injection is how a fault of the table is done. What it has depends on its target.
type injection struct {
	// at are the occasions of clients on which it may occur; command has it occur at a
	// request that c made, nil for what no client asked for.
	at      occasion
	command func(p *Process, r *request, c *Client, plan *plan) error

	// begin has it occur to a process that begins.
	begin func(p *Process, plan *plan, env *design.Environment)

	// open readies the servers before there are processes, prepare before faults occur.
	open, prepare func(in *Injector, ctx context.Context, p *plan) error
	// occur has it occur once to the server, or to the connections of a process; counts
	// reports that it counts by itself what it met.
	occur  func(in *Injector, ctx context.Context, p *plan) error
	counts bool
	// toxic is what the proxy library is asked to do to a stream: a form that takes the
	// stream's direction, by how many ms, and how many KB/s.
	toxic string
}

// An occasion is when a fault of a client may occur.
type occasion uint8

const (
	atCommand occasion = 1 << iota // a command that passes by
	atForeign                      // a command of a client library that is not go-redis
	atCall                         // a call of the lock
	atGrant                        // a grant, once it is recorded
	atUnseen                       // a grant or a release of a lock whose commands cannot be seen
)

// injections has how each live fault is done.
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
	fault.Failover:    {occur: (*Injector).failOver, prepare: (*Injector).replicate, counts: true},
	fault.Down:        {occur: (*Injector).takeDown},
	fault.ClockStep:   {occur: (*Injector).stepClocks, open: (*Injector).ownClocks},
	fault.Evict:       {occur: (*Injector).evict},

	fault.Slow: {occur: (*Injector).hinder, counts: true,
		toxic: `{"name": %q, "type": "latency", "stream": %[1]q, "attributes": {"latency": %[2]d}}`},
	fault.Throttle: {occur: (*Injector).hinder, counts: true,
		toxic: `{"name": %q, "type": "bandwidth", "stream": %[1]q, "attributes": {"rate": %[3]d}}`},
	fault.BlackHole: {occur: (*Injector).hinder, counts: true,
		toxic: `{"name": %q, "type": "timeout", "stream": %[1]q, "attributes": {"timeout": 0}}`},
}

// endings end what faults have left, in this order: a server that is down has no clock.
var endings = []func(*Injector){(*Injector).endReplica, (*Injector).bringUp, (*Injector).rightClocks, (*Injector).closeProxies}
