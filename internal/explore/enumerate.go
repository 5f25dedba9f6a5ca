package explore

import (
	"slices"
	"time"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/explore/internal/strategy"
)

// enumerate returns the choices at this point: first the items that can run, in the order of
// actors, then faults and time moves, within their budgets.
func (w *world) enumerate() []strategy.Choice {
	w.choices = w.choices[:0]
	for _, a := range w.actors {
		for n := range a.items() {
			w.offerIf(w.ready(a, n), strategy.VerbRun, a, n)
		}
		for n := range a.late {
			w.offerIf(w.ready(a, strategy.LateCommand+n), strategy.VerbRun, a, strategy.LateCommand+n)
		}
	}
	if len(w.choices) == 0 {
		w.choices = append(w.choices, strategy.Choice{Verb: strategy.VerbWait, Actor: strategy.NoActor})
	}
	if w.left.faults > 0 {
		w.offerFaults()
	}
	if w.left.moves > 0 && w.last != strategy.VerbMove && w.mayPass() && w.choices[0].Verb == strategy.VerbRun {
		w.offerMoves()
	}
	return w.choices
}

// mayPass reports whether a choice may let time pass: no time skip is active, and no reply is
// unread in a socket.
func (w *world) mayPass() bool {
	return !w.skip.active && !slices.ContainsFunc(w.actors, w.skip.unread)
}

func (w *world) offerIf(can bool, v strategy.Verb, a *actor, nth int) {
	if can {
		w.choices = append(w.choices, strategy.Choice{Verb: v, Actor: a.number, Nth: nth})
	}
}

// may reports whether fault v may occur.
func (w *world) may(v strategy.Verb) bool { return w.allowed[v] }

func (w *world) offerFaults() {
	for _, a := range w.actors {
		if !a.client {
			w.offerBreaks(a)
			continue
		}
		if a.crashed || a.exited {
			continue
		}
		w.offerEnds(a)
		w.offerBreaks(a)
	}
	somethingRuns := w.choices[0].Verb == strategy.VerbRun
	for _, v := range strategy.FaultsOfServer() {
		if w.may(v) && somethingRuns && !w.skip.active {
			w.choices = append(w.choices, strategy.Choice{Verb: v, Actor: strategy.NoActor})
		}
	}
	if somethingRuns && w.mayPass() {
		w.offerStandstills()
	}
}

// Bounds of a standstill.
const (
	shortestStandstill = 300*time.Millisecond + edgeMargin
	longestStandstill  = 3*time.Second - edgeMargin
)

// offerStandstills offers the shortest and the longest standstill, and standstills that end just
// before and just after the end of a lease.
func (w *world) offerStandstills() {
	if !slices.ContainsFunc(strategy.Standstills[:], w.may) {
		return
	}
	now := time.Now()
	lengths := []time.Duration{shortestStandstill, longestStandstill}
	for _, end := range w.ends() {
		for _, length := range []time.Duration{end.Add(-edgeMargin).Sub(now), end.Add(edgeMargin).Sub(now)} {
			if length > shortestStandstill && length < longestStandstill && !slices.Contains(lengths, length) {
				lengths = append(lengths, length)
			}
		}
	}
	for n, length := range lengths {
		for _, a := range w.actors {
			if w.may(strategy.VerbStandstill) && w.sends(a) {
				w.choices = append(w.choices, strategy.Choice{Verb: strategy.VerbStandstill, Actor: a.number, Nth: n, At: length})
			}
		}
		for _, v := range []strategy.Verb{strategy.VerbServerStandstill, strategy.VerbMachineStandstill} {
			if w.may(v) {
				w.choices = append(w.choices, strategy.Choice{Verb: v, Actor: strategy.NoActor, Nth: n, At: length})
			}
		}
	}
}

// sends reports whether the actor has a pending command, or would send one if it went on.
func (w *world) sends(a *actor) bool { return a.items() > 0 && w.ready(a, 0) && !a.accesses }

// offerEnds offers faults of a client as a whole: death, a pause, the end of its call's context.
func (w *world) offerEnds(a *actor) {
	first := a.items() > 0 && w.ready(a, 0)
	w.offerIf(first && w.may(strategy.VerbDieBefore), strategy.VerbDieBefore, a, 0)
	w.offerIf(first && w.may(strategy.VerbPause) && w.mayPass(), strategy.VerbPause, a, 0)
	begins := a.parkedAt != "" && !a.accesses
	waits := first && (begins || a.call.inCall && !a.call.cancelled)
	w.offerIf((waits || w.sleeps(a)) && w.may(strategy.VerbCancel), strategy.VerbCancel, a, 0)
	w.offerIf(first && begins && w.may(strategy.VerbCancelBefore), strategy.VerbCancelBefore, a, 0)
}

// sleeps reports whether the client sleeps within a call, in a wait that cancelling its context may
// end. Only the first few sleeps of a call count, because a poller does nothing else.
func (w *world) sleeps(a *actor) bool {
	const few = 2
	return a.call.asleep && a.call.rests <= few && !w.skip.stops(a, nil)
}

// offerBreaks offers faults of a single command.
func (w *world) offerBreaks(a *actor) {
	if w.skip.serverStands() {
		return // no command runs
	}
	for n := range a.items() {
		c := a.item(n)
		access := c == nil && a.accesses
		if !w.ready(a, n) || access || c != nil && c.Answered() {
			continue
		}
		w.offerIf(a.client && w.may(strategy.VerbDieAfter), strategy.VerbDieAfter, a, n)
		w.offerIf(w.may(strategy.VerbLoseReply), strategy.VerbLoseReply, a, n)
		w.offerIf(w.may(strategy.VerbSlowReply), strategy.VerbSlowReply, a, n)
		w.offerIf(w.may(strategy.VerbCut), strategy.VerbCut, a, n)
		w.offerIf(a.client && w.may(strategy.VerbTimeOut) && !a.call.cancelled, strategy.VerbTimeOut, a, n)
	}
}

// mayCancel reports whether the context of a sleeping client may end.
func (w *world) mayCancel() bool {
	return w.left.faults > 0 && w.may(strategy.VerbCancel) && slices.ContainsFunc(w.clients, w.sleeps)
}

// A scratch is memory for lists that are used briefly.
type scratch struct {
	ends, known []time.Time
	edges       []edge
}

// An edge is a time to which a time move may go: just before or just after the end of a lease, or
// of a whole second.
type edge struct {
	at    time.Time // by the bubble's clock
	after bool
}

// edgeMargin is the distance of an edge from the end of the lease or the second. It is an odd
// number of ns, so that timers do not fire at the same instant.
const edgeMargin = 1_000_003 * time.Nanosecond

// offerMoves offers to move time to every edge, once each.
func (w *world) offerMoves() {
	now := time.Now()
	known := w.scratch.known[:0]
	for n, e := range w.edges(now) {
		to := e.at.Add(-edgeMargin)
		if e.after {
			to = e.at.Add(edgeMargin)
		}
		if !to.After(now) || slices.ContainsFunc(known, to.Equal) {
			continue
		}
		known = append(known, to)
		w.choices = append(w.choices, strategy.Choice{Verb: strategy.VerbMove, Actor: strategy.NoActor, Nth: n, At: to.Sub(w.start)})
	}
	w.scratch.known = known
}

// edges returns the edges of the ends of leases on the server and of validity, in order. If the
// design may look at whole seconds, it adds the edges of the whole seconds up to the last of these
// ends. The list is valid until the next call.
func (w *world) edges(now time.Time) []edge {
	all := w.scratch.edges[:0]
	defer func() { w.scratch.edges = all }()
	ends := w.ends()
	for _, end := range ends {
		all = append(all, edge{end, false}, edge{end, true})
	}
	if len(ends) == 0 || !w.seconds {
		return all
	}
	for _, ahead := range w.clocks() {
		for t := now.Add(ahead).Truncate(time.Second).Add(time.Second); ; t = t.Add(time.Second) {
			at := t.Add(-ahead)
			if at.After(ends[len(ends)-1]) {
				break
			}
			all = append(all, edge{at, true})
		}
	}
	return all
}

// longestLease bounds the leases: time may stop at the end of a shorter lease only. No client waits
// longer, and the clock of a bubble ends in 2262.
const longestLease = 366 * 24 * time.Hour

// ends returns the ends of leases, in order, each once, without those beyond longestLease. The list
// is valid until the next call.
func (w *world) ends() []time.Time {
	ends := w.server.Ends(w.scratch.ends[:0])
	for _, a := range w.clients {
		for _, b := range a.beliefs {
			ends = append(ends, b.until)
		}
	}
	never := time.Now().Add(max(longestLease, 2*w.cfg.TTL))
	ends = slices.DeleteFunc(ends, never.Before)
	slices.SortFunc(ends, time.Time.Compare)
	w.scratch.ends = ends
	return slices.CompactFunc(ends, time.Time.Equal)
}

// clocks returns by how much the clocks of the server and the processes are ahead of the bubble's,
// one for each fraction of a second.
func (w *world) clocks() []time.Duration {
	all := []time.Duration{0}
	for _, p := range w.processes {
		if p.skew%time.Second != 0 {
			all = append(all, p.skew)
		}
	}
	return all
}

// wholeSeconds reports whether a design that reads the clock may look at whole seconds: it grants
// leases in seconds, or sets an expiry by the time of day.
func wholeSeconds(d design.Design) bool {
	const odd = 1500 * time.Millisecond
	return d.Granted != nil && d.Granted(odd) != odd || slices.Contains(d.Commands, "EXPIREAT")
}
