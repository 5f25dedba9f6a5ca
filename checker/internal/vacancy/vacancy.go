// Package vacancy knows when one key is provably free: no hold, read as widely as can be,
// reaches into that time, and no acquire may have taken it.
package vacancy

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/clients"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/optime"
	"github.com/lockbench/lockbench/history"
)

// A Key is what is known of one key; [Key.Begin] comes first. Holds that are not gone are its
// caller's to look at.
type Key struct {
	// Slack is how long past its end a lease that was not released counts as held, in ns.
	Slack    int64
	Tainted  int // acquires that may take it at any time: those of unknown outcome, and one that is not in the record
	Granting int // acquires under way that will be, or may be, granted
	Stirred  int // acquires so far that might have taken it
	// Residues are, by client, until when levels may be left of holds whose release was not
	// answered ok.
	Residues clients.Values

	busy  optime.Stamp // the latest instant at which a hold that is gone may have ended
	acted optime.Stamp // an acquire that a fault affected may have acted as late as this
}

// Begin begins the key's history. others tells that owners outside the record may take the key:
// they do so at any time, so it is never known to be free.
func (k *Key) Begin(slack int64, others bool) {
	never := optime.Stamp{T: -1}
	*k = Key{Slack: slack, Residues: k.Residues.Empty(), busy: never, acted: never}
	if others {
		k.Tainted = 1
	}
}

// Gone notes that nothing more happens under g.
func (k *Key) Gone(g *interval.Grant) { k.busy = optime.Later(k.busy, g.Freed(k.Slack)) }

// Keep has the key count as busy until t, in ns.
func (k *Key) Keep(t int64) { k.busy = optime.Later(k.busy, optime.Stamp{T: t, Seq: math.MaxUint64}) }

// KeepFor has it count as busy for a lease of ttl ns from t on, and for the slack.
func (k *Key) KeepFor(t, ttl int64) { k.Keep(optime.After(optime.After(t, ttl), k.Slack)) }

// Acted notes that an acquire, which a fault affected, may have acted until end.
func (k *Key) Acted(end optime.Stamp) { k.acted = optime.Later(k.acted, end) }

// NobodySince reports whether no acquire may have taken the key since s but those that were
// granted.
func (k *Key) NobodySince(s optime.Stamp) bool {
	return k.Tainted == 0 && k.Granting == 0 && k.acted.Before(s)
}

// Left notes what the server may have left of g when client gave it up, unless it did so for
// certain.
func (k *Key) Left(client int32, g *interval.Grant) {
	if !g.Certain {
		k.Residues.Raise(client, g.Latest(k.Slack))
	}
}

// Residual reports whether acquire op may have added a level to what its client had left of an
// earlier hold: then its release does not free the key for certain.
func (k *Key) Residual(op *history.Op) bool {
	until, ok := k.Residues.Get(op.Client)
	return ok && until >= op.Call
}

// Since is when it became free at the latest, as far as holds say that are gone, and acquires that a fault affected.
func (k *Key) Since() optime.Stamp { return optime.Later(k.busy, k.acted) }

// FreeBefore reports whether the key was free before s, as far as holds say that are gone.
func (k *Key) FreeBefore(s optime.Stamp) bool {
	return k.Tainted == 0 && k.Granting == 0 && k.busy.Before(s)
}

// Prolonged notes the return of op, if it is a renewal that is answered ok: it kept the key for another hold than the one that it
// was sent for.
func (k *Key) Prolonged(op *history.Op) {
	if op.Kind == history.Renew && op.Outcome == history.OK {
		k.KeepFor(op.Return, optime.Longest(op))
	}
}
