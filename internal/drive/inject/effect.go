package inject

import (
	"context"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/fault"
)

// An Effect is one step of a fault of a server, as clients meet it.
type Effect struct {
	Kind EffectKind
	// Fault is the index in [Config.Faults] of a fault that occurs.
	Fault int `json:",omitempty"`
	// Note and Value are the event to record, as in [history.Client.Fault].
	Note  string `json:",omitempty"`
	Value int64  `json:",omitempty"`
}

// An EffectKind says what an [Effect] does.
type EffectKind string

// The kinds of effect.
const (
	Occurs   EffectKind = "occurs"  // the fault is counted
	Recorded EffectKind = "records" // the event is recorded
	HangsUp  EffectKind = "hangs up"
	GoesAway EffectKind = "goes away" // the server stops to answer, until it Returns
	Returns  EffectKind = "returns"
	CutsOff  EffectKind = "cuts off" // the replica gets no more data
)

// A Holding describes the locks that clients hold.
type Holding struct {
	// Granted reports a grant since the question, Held any held lock, and Unreplicated one that
	// a replica that is cut off does not have.
	Granted, Held, Unreplicated bool
}

// Clients are the clients that faults of servers affect. An [Injector] is its own Clients unless they are
// on other machines.
type Clients interface {
	// Apply applies an effect, and returns once all clients are affected. So a step of the server before
	// Apply is earlier than the effect in each record, and a step after it is later, whatever the clocks of
	// the machines show. One goroutine at a time calls it.
	Apply(Effect)
	// Holding returns the state of the locks at the next grant, after wait at most, or when ctx ends.
	Holding(ctx context.Context, wait time.Duration) Holding
}

// Apply implements [Clients]. It must not be called before [Injector.Prepare].
func (in *Injector) Apply(e Effect) {
	switch e.Kind {
	case Occurs:
		p := in.plans[e.Fault]
		held := in.held.Load() > 0
		if p.Kind == fault.Failover {
			held = in.ledger.anyUnreplicated()
		}
		p.count(held, false)
	case Recorded:
		in.serverRecord.Fault(e.Note, e.Value)
	case HangsUp:
		in.hungUp()
	case GoesAway, Returns:
		in.outages.Add(1)
	case CutsOff:
		in.ledger.cutOff()
	}
}

// Holding implements [Clients].
func (in *Injector) Holding(ctx context.Context, wait time.Duration) (now Holding) {
	granted := in.granted.next()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-granted:
		now.Granted = true
	case <-timer.C:
	case <-ctx.Done():
	}
	now.Held, now.Unreplicated = in.held.Load() > 0, in.ledger.anyUnreplicated()
	return now
}

// clients returns the clients that faults of servers affect.
func (in *Injector) clients() Clients {
	if in.config.Clients != nil {
		return in.config.Clients
	}
	return in
}

// record records an event of a server.
func (in *Injector) record(note string, value int64) {
	in.clients().Apply(Effect{Kind: Recorded, Note: note, Value: value})
}

// leave tells clients that the server stops to answer, until the function that it returns is called.
func (in *Injector) leave() (comeBack func()) {
	in.clients().Apply(Effect{Kind: GoesAway})
	return func() { in.clients().Apply(Effect{Kind: Returns}) }
}

// hangUp tells clients that the server is about to close all connections.
func (in *Injector) hangUp() { in.clients().Apply(Effect{Kind: HangsUp}) }

// occurs counts an occurrence of p, a fault of a server.
func (in *Injector) occurs(p *plan) {
	in.clients().Apply(Effect{Kind: Occurs, Fault: slices.Index(in.plans, p)})
}
