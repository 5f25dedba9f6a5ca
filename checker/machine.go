package checker

import (
	"math"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure/clocks"
)

// A Machine reads the history of one of several machines that use the same keys, and keeps what
// [Between] needs to judge exclusion between them: its memory grows with the number of grants. It is
// used like a [Checker], and counts operations as one does, but has no findings: the cause of what one
// machine sees may be on another. It is not safe for concurrent use.
type Machine struct {
	*Checker
	windows []clocks.Window
	probes  []clocks.Comparison
	holds   map[string][]*machineHold // by key
	refused map[string][]refusal      // acquires
	times   map[string][]span         // times of a key in which more than its holds may act on it
	brought []occurrence              // the conditions of faults so far, without pauses
	acts    map[int64]act             // by hold, of the holds that may still change
	writes  map[*hold][]machineWrite  // of the holds that may still change
	first   int64                     // stamp
	end     history.End
}

// A machineHold is a hold of a machine, by the clock of its stamps.
type machineHold struct {
	client, process int32
	id              int64
	endedBy         interval.Cause
	called          int64 // by the acquire that began it
	// The server may hold the key for it, or a call of its owner act on the key, from the attempt that was granted
	// until over.
	attempt, over int64
	pieces        []clocks.Hold
	under         lockbench.Conditions
	returned      int64 // the return of the acquire
	fence         uint64
	writes        []machineWrite
}

// A machineWrite is a write of the guarded record that the store accepted.
type machineWrite struct {
	base, version, fence uint64
	called, returned     int64
	informed             bool // its owner had read the record under the same hold
	// under has, beyond the conditions of the hold, Outlived if the owner may have read or written past its validity.
	under lockbench.Conditions
}

// A refusal is the call and the return of a refused acquire.
type refusal struct{ called, returned int64 }

// A span is a time in which a call under a hold may act, although its owner may have lost the key, or in which an
// operation may act that a fault affected; and the conditions that it brings. Until is history.Never if there is no end.
type span struct {
	from, until int64
	under       lockbench.Conditions
}

// An occurrence is the first stamp at which conditions had occurred.
type occurrence struct {
	at    int64
	under lockbench.Conditions
}

// An act is the newest call of a release, extend or renewal under a hold, the latest return of any, and how many may
// act at any later time.
type act struct {
	called, returned int64
	endless          int
}

// until returns the latest time at which any may act.
func (a act) until() int64 {
	if a.endless > 0 {
		return history.Never
	}
	return a.returned
}

// acts reports whether op acts on the key of a hold.
func acts(op *history.Op) bool {
	return op.Kind == history.Release || op.Kind == history.Extend || op.Kind == history.Renew
}

// NewMachine starts the judgement of the history of one machine, with this header.
func NewMachine(h history.Header) *Machine {
	m := &Machine{
		Checker: New(h), holds: map[string][]*machineHold{}, refused: map[string][]refusal{}, times: map[string][]span{},
		acts: map[int64]act{}, writes: map[*hold][]machineWrite{}, first: history.NoStamp,
	}
	m.gone, m.wrote, m.affected, m.silent = m.keep, m.written, m.struck, true
	return m
}

// Add takes the next event, as [Checker.Add] does.
func (m *Machine) Add(ev history.Event) {
	op := ev.Op
	if m.first == history.NoStamp {
		m.first = op.Call
	}
	if ev.Phase == history.Call {
		switch op.Kind {
		case history.Probe:
			sent := int64(op.Base)
			m.probes = append(m.probes, clocks.Comparison{Before: sent, Other: op.Value, After: sent + op.Delay})
		case history.Clock:
			until := int64(op.Base)
			m.windows = append(m.windows, clocks.Window{From: until - op.Delay, Until: until, Least: op.Value, Largest: op.Value + op.Wait})
		case history.Acquire:
			switch {
			case op.Outcome == history.Refused:
				m.refused[op.Key] = append(m.refused[op.Key], refusal{op.Call, op.Return})
			case op.Hold != 0:
				if _, open := m.acts[op.Hold]; !open { // its owner may acquire it again
					m.acts[op.Hold] = act{}
				}
			}
		}
		if acts(op) {
			m.acted(op)
		}
	}
	if ev.Phase == history.Return && acts(op) && op.Outcome == history.Unknown && !m.key(op.Key).affected.Has(op) {
		m.unanswered(op)
	}
	m.Checker.Add(ev)
	if under := m.faults.Occurred &^ lockbench.Pause; len(m.brought) == 0 && under != 0 || len(m.brought) > 0 && under != m.brought[len(m.brought)-1].under {
		m.brought = append(m.brought, occurrence{op.Call, under})
	}
}

// struck notes the time in which an operation, nil if it is not known, may act because of a fault.
func (m *Machine) struck(k *key, op *history.Op, until int64, cause lockbench.Conditions) {
	if op == nil {
		m.times[k.name] = append(m.times[k.name], span{m.first, until, cause | lockbench.Outlived})
		return
	}
	if cause.Has(pending.Died) {
		cause = cause&^pending.Died | m.mayHaveDied(op.Client)
	}
	if op.Return != history.Never {
		until = max(until, op.Return)
	} else if a := m.acts[op.Hold]; acts(op) && a.endless > 0 { // its client died, and it has acted by then
		m.acts[op.Hold] = act{a.called, max(a.returned, until), a.endless - 1}
	}
	if h := k.find(op.Hold); op.Kind != history.Acquire && (h == nil || until > serverUntil(&h.Grant)) {
		cause |= lockbench.Outlived
	}
	m.times[k.name] = append(m.times[k.name], span{op.Call, until, cause})
}

// acted notes the call of an operation under a hold, unless its answer says that it did nothing. If an earlier
// attempt of it did something, its reply was lost, which is on record.
func (m *Machine) acted(op *history.Op) {
	if op.Outcome == history.LossReported || op.Outcome == history.Failed {
		return
	}
	a, open := m.acts[op.Hold]
	if !open { // its hold is over, or unknown
		m.times[op.Key] = append(m.times[op.Key], span{op.Call, op.Return, m.faults.Occurred | lockbench.Outlived})
		return
	}
	a.called = op.Call
	if op.Return == history.Never {
		a.endless++
	} else {
		a.returned = max(a.returned, op.Return)
	}
	m.acts[op.Hold] = a
}

// unanswered notes the return of an operation under a hold, of which neither the answer nor a fault says when it acted.
func (m *Machine) unanswered(op *history.Op) {
	if a, open := m.acts[op.Hold]; open {
		a.endless++
		m.acts[op.Hold] = a
		return
	}
	m.times[op.Key] = append(m.times[op.Key], span{op.Call, history.Never, m.faults.Occurred | lockbench.Outlived})
}

// written notes a write, which has just returned.
func (m *Machine) written(w *pending.Write[*hold]) {
	h, op := w.Hold, w.Op
	its := machineWrite{base: op.Base, version: op.Version, fence: op.Fence, called: op.Call, returned: op.Return, informed: h.LastRead != nil}
	if !w.Valid || op.Return > serverUntil(&h.Grant) {
		its.under = lockbench.Outlived
	}
	m.writes[h] = append(m.writes[h], its)
}

// serverUntil returns the earliest end of the validity of g by the server's clock, which may be faster.
func serverUntil(g *interval.Grant) int64 {
	if g.Until == math.MaxInt64 {
		return g.Until
	}
	return g.Until - int64(clocks.Slew*float64(g.Until-g.From))
}

// keep keeps a hold that no event can change any more.
func (m *Machine) keep(k *key, h *hold) {
	a := m.acts[h.id]
	delete(m.acts, h.id)
	if before, renamed := m.acts[h.previousID]; renamed && h.previousID != 0 {
		delete(m.acts, h.previousID)
		a = act{max(a.called, before.called), max(a.returned, before.returned), a.endless + before.endless}
	}
	its := &machineHold{
		client: h.client, process: h.process, id: h.id, endedBy: h.EndCause(), called: h.First.Call, attempt: interval.Start(h.First), over: max(h.Until, a.until()),
		pieces: h.Pieces(m.last), under: m.touching(h), returned: h.First.Return, fence: h.First.Fence, writes: m.writes[h],
	}
	delete(m.writes, h)
	for i := range its.writes {
		if w := &its.writes[i]; w.under != 0 {
			w.under |= m.renewing(h, w.returned)
		}
	}
	if h.CertainlyFree {
		its.over = max(a.until(), h.ReleasedBy.Return)
	}
	m.holds[k.name] = append(m.holds[k.name], its)
	over := min(h.Until, h.End.T)
	if len(its.pieces) > 0 {
		over = min(over, its.pieces[0].End)
		for _, p := range its.pieces { // up to the first gap
			if p.Start > over {
				break
			}
			over = p.End
		}
	}
	until := serverUntil(&h.Grant)
	if a.until() > until || a.called > over {
		over = min(over, until)
		if h.From == history.NoStamp {
			over = h.First.Call
		}
		m.times[k.name] = append(m.times[k.name], span{over, a.until(), its.under | lockbench.Outlived})
	}
}

// Finish ends the record and returns its counts.
func (m *Machine) Finish(end history.End) Result {
	r := m.Checker.Finish(end)
	m.end = end
	for _, k := range m.keys {
		for _, h := range k.released {
			m.keep(k, h.hold)
		}
	}
	return r
}

// clock returns the clock of the machine, nil if nothing is known of it.
func (m *Machine) clock() *clocks.Clock { return clocks.NewClock(m.windows, m.probes) }
