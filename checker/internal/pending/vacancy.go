package pending

import (
	"math"

	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/history"
)

// A Vacancy is the state of one key. It covers the holds that have ended; the caller looks at the
// open ones. [Vacancy.Begin] makes it ready for use.
type Vacancy struct {
	// Slack is added to the end of a lease that was not released, in ns.
	Slack int64
	// Tainted counts the acquires that may take the key at any time: each of unknown outcome,
	// and one for all owners outside the record.
	Tainted  int
	Granting int // acquires under way that are granted in the end, or may be
	Stirred  int // acquires so far that can have taken the key
	// Residues has, by client, the last instant at which levels of an earlier hold may be left,
	// since its release was not answered ok.
	Residues Values

	busy  interval.Stamp // the latest possible end of a hold that has ended
	acted interval.Stamp // the latest instant at which an acquire hit by a fault can have acted
}

// Begin begins the key's history. With others, owners outside the record may take the key at
// any time, so it is never provably free.
func (k *Vacancy) Begin(slack int64, others bool) {
	never := interval.Stamp{T: -1}
	*k = Vacancy{Slack: slack, Residues: k.Residues.Empty(), busy: never, acted: never}
	if others {
		k.Tainted = 1
	}
}

// Gone applies the end of hold g: no later operation acts on it.
func (k *Vacancy) Gone(g *interval.Grant) { k.busy = interval.Later(k.busy, g.Freed(k.Slack)) }

// Keep marks the key as busy until t, in ns.
func (k *Vacancy) Keep(t int64) {
	k.busy = interval.Later(k.busy, interval.Stamp{T: t, Seq: math.MaxUint64})
}

// KeepFor marks the key as busy for a lease of ttl ns from t, plus the slack.
func (k *Vacancy) KeepFor(t, ttl int64) { k.Keep(interval.After(interval.After(t, ttl), k.Slack)) }

// Acted applies that an acquire hit by a fault may have acted as late as end.
func (k *Vacancy) Acted(end interval.Stamp) { k.acted = interval.Later(k.acted, end) }

// NobodySince reports whether only acquires that were answered ok can have taken the key since s.
func (k *Vacancy) NobodySince(s interval.Stamp) bool {
	return k.Tainted == 0 && k.Granting == 0 && k.acted.Before(s)
}

// Left notes the levels of g that the server may keep for client after its last release, if
// the release is not certain to have freed them.
func (k *Vacancy) Left(client int32, g *interval.Grant) {
	if !g.Certain {
		k.Residues.Raise(client, g.Latest(k.Slack))
	}
}

// Residual reports whether acquire op may have added a level to an earlier hold of its client.
// Then its release is not certain to free the key.
func (k *Vacancy) Residual(op *history.Op) bool {
	until, ok := k.Residues.Get(op.Client)
	return ok && until >= op.Call
}

// Since returns the latest instant at which the key can have become free, by the holds that
// have ended and the acquires hit by faults.
func (k *Vacancy) Since() interval.Stamp { return interval.Later(k.busy, k.acted) }

// FreeBefore reports whether every hold that has ended was over before s, and no acquire can
// have taken the key since.
func (k *Vacancy) FreeBefore(s interval.Stamp) bool {
	return k.Tainted == 0 && k.Granting == 0 && k.busy.Before(s)
}

// Prolonged applies the return of op. A renewal that is answered ok after its own hold has ended
// kept the key for a later hold of its client.
func (k *Vacancy) Prolonged(op *history.Op) {
	if op.Kind == history.Renew && op.Outcome == history.OK {
		k.KeepFor(op.Return, interval.Longest(op))
	}
}
