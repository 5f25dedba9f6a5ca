// Package vacancy tells when one key was provably free: every hold had ended, by the longest
// reading of its lease, and no acquire can have taken the key.
package vacancy

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/clients"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/history"
)

// A Key is the state of one key. It covers the holds that have ended; the caller looks at the
// open ones. [Key.Begin] makes it ready for use.
type Key struct {
	// Slack is added to the end of a lease that was not released, in ns.
	Slack int64
	// Tainted counts the acquires that may take the key at any time: each of unknown outcome,
	// and one for all owners outside the record.
	Tainted  int
	Granting int // acquires under way that are granted in the end, or may be
	Stirred  int // acquires so far that can have taken the key
	// Residues has, by client, the last instant at which levels of an earlier hold may be left,
	// since its release was not answered ok.
	Residues clients.Values

	busy  optime.Stamp // the latest possible end of a hold that has ended
	acted optime.Stamp // the latest instant at which an acquire hit by a fault can have acted
}

// Begin begins the key's history. With others, owners outside the record may take the key at
// any time, so it is never provably free.
func (k *Key) Begin(slack int64, others bool) {
	never := optime.Stamp{T: -1}
	*k = Key{Slack: slack, Residues: k.Residues.Empty(), busy: never, acted: never}
	if others {
		k.Tainted = 1
	}
}

// Gone applies the end of hold g: no later operation acts on it.
func (k *Key) Gone(g *interval.Grant) { k.busy = optime.Later(k.busy, g.Freed(k.Slack)) }

// Keep marks the key as busy until t, in ns.
func (k *Key) Keep(t int64) { k.busy = optime.Later(k.busy, optime.Stamp{T: t, Seq: math.MaxUint64}) }

// KeepFor marks the key as busy for a lease of ttl ns from t, plus the slack.
func (k *Key) KeepFor(t, ttl int64) { k.Keep(optime.After(optime.After(t, ttl), k.Slack)) }

// Acted applies that an acquire hit by a fault may have acted as late as end.
func (k *Key) Acted(end optime.Stamp) { k.acted = optime.Later(k.acted, end) }

// NobodySince reports whether only acquires that were answered ok can have taken the key since s.
func (k *Key) NobodySince(s optime.Stamp) bool {
	return k.Tainted == 0 && k.Granting == 0 && k.acted.Before(s)
}

// Left notes the levels of g that the server may keep for client after its last release, if
// the release is not certain to have freed them.
func (k *Key) Left(client int32, g *interval.Grant) {
	if !g.Certain {
		k.Residues.Raise(client, g.Latest(k.Slack))
	}
}

// Residual reports whether acquire op may have added a level to an earlier hold of its client.
// Then its release is not certain to free the key.
func (k *Key) Residual(op *history.Op) bool {
	until, ok := k.Residues.Get(op.Client)
	return ok && until >= op.Call
}

// Since returns the latest instant at which the key can have become free, by the holds that
// have ended and the acquires hit by faults.
func (k *Key) Since() optime.Stamp { return optime.Later(k.busy, k.acted) }

// FreeBefore reports whether every hold that has ended was over before s, and no acquire can
// have taken the key since.
func (k *Key) FreeBefore(s optime.Stamp) bool {
	return k.Tainted == 0 && k.Granting == 0 && k.busy.Before(s)
}

// Prolonged applies the return of op. A renewal that is answered ok after its own hold has ended
// kept the key for a later hold of its client.
func (k *Key) Prolonged(op *history.Op) {
	if op.Kind == history.Renew && op.Outcome == history.OK {
		k.KeepFor(op.Return, optime.Longest(op))
	}
}
