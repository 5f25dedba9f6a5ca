package checker

import (
	"math"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker/internal/interval"
	"github.com/lockbench/lockbench/checker/internal/pending"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/fault"
	"github.com/lockbench/lockbench/internal/measure/clocks"
)

// A Machine reads the history of one of several machines that use the same keys, and keeps what [Between] needs. Its
// memory grows with the number of grants. It is used like a [Checker], and counts operations as one does, but has no
// findings: the cause of what one machine sees may be on another. It is not safe for concurrent use.
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
	open    map[*history.Op][]int     // the spans of operations that have not returned, by their index in times
	// deaths has the deaths of clients, lastDeath the last one of each process.
	deaths, lastDeath map[int32]int64
	cut               int64 // the first end of the record of one client
	end               history.End
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

// An act is the newest call of a release, extend or renewal under a hold, the latest return of any, the latest return of
// an extend or renewal, and how many may act at any later time.
type act struct {
	called, returned, prolonged int64
	endless                     int
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
		acts: map[int64]act{}, writes: map[*hold][]machineWrite{}, open: map[*history.Op][]int{},
		deaths: map[int32]int64{}, lastDeath: map[int32]int64{}, cut: history.Never,
	}
	m.gone, m.wrote, m.affected, m.silent = m.keep, m.written, m.struck, true
	return m
}

// Add takes the next event, as [Checker.Add] does.
func (m *Machine) Add(ev history.Event) {
	op := ev.Op
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
	switch {
	case ev.Phase == history.Cut:
		m.cut = min(m.cut, op.Call)
	case op.Kind == history.Fault && fault.EventOf(op.Note).Act == fault.ActsLate:
		m.ranLate(op)
	case op.Kind == history.Death:
		m.deaths[op.Client] = op.Call
		m.lastDeath[op.Process] = op.Call
	}
	if under := m.faults.Occurred &^ lockbench.Pause; len(m.brought) == 0 && under != 0 || len(m.brought) > 0 && under != m.brought[len(m.brought)-1].under {
		m.brought = append(m.brought, occurrence{op.Call, under})
	}
}

// struck notes the time in which an operation may act because of a fault, the event at a stamp. An operation that does
// not return may act until its client dies.
func (m *Machine) struck(k *key, op *history.Op, at int64, cause lockbench.Conditions) {
	died, until := cause.Has(pending.Died), max(at, op.Return)
	if died {
		cause = cause&^pending.Died | m.mayHaveDied(op.Client)
		if op.Return == history.Never {
			until = at
		}
	}
	if h := k.find(op.Hold); acts(op) && (h == nil || until > h.ServerUntil()) {
		cause |= lockbench.Outlived
	}
	if died {
		m.over(k, op, at)
	} else if op.Return == history.Never {
		m.open[op] = append(m.open[op], len(m.times[k.name]))
	}
	m.times[k.name] = append(m.times[k.name], span{op.Call, until, cause})
}

// over applies that op, which does not return, acts no more after a stamp.
func (m *Machine) over(k *key, op *history.Op, at int64) {
	spans, open := m.open[op]
	if !open {
		return
	}
	delete(m.open, op)
	for _, i := range spans {
		m.times[k.name][i].until = at
	}
	if a, held := m.acts[op.Hold]; held && acts(op) && a.endless > 0 {
		m.acts[op.Hold] = act{a.called, max(a.returned, at), max(a.prolonged, at), a.endless - 1}
	}
}

// ranLate notes that a command ran late, after its call had ended. It may be of any earlier call, on any key.
func (m *Machine) ranLate(fault *history.Op) {
	for name := range m.keys {
		m.times[name] = append(m.times[name], span{math.MinInt64, fault.Call, m.faults.Occurred | lockbench.Outlived})
	}
}

// acted notes the call of an operation under a hold, unless its answer says that it did nothing. If an earlier
// attempt of it did something, its reply was lost, which is on record.
func (m *Machine) acted(op *history.Op) {
	if op.Outcome == history.LossReported || op.Outcome == history.Failed {
		return
	}
	a, open := m.acts[op.Hold]
	if !open { // its hold is over, or unknown
		if op.Return == history.Never {
			m.open[op] = append(m.open[op], len(m.times[op.Key]))
		}
		m.times[op.Key] = append(m.times[op.Key], span{op.Call, op.Return, m.faults.Occurred | lockbench.Outlived})
		return
	}
	a.called = op.Call
	if op.Return == history.Never {
		a.endless++
		m.open[op] = nil
	} else {
		a.returned = max(a.returned, op.Return)
		if op.Kind != history.Release {
			a.prolonged = max(a.prolonged, op.Return)
		}
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
	if !w.Valid || op.Return > h.ServerUntil() {
		its.under = lockbench.Outlived
	}
	m.writes[h] = append(m.writes[h], its)
}

// keep keeps a hold that no event can change any more.
func (m *Machine) keep(k *key, h *hold) {
	a := m.acts[h.id]
	delete(m.acts, h.id)
	if before, renamed := m.acts[h.previousID]; renamed && h.previousID != 0 {
		delete(m.acts, h.previousID)
		a = act{max(a.called, before.called), max(a.returned, before.returned), max(a.prolonged, before.prolonged), a.endless + before.endless}
	}
	its := &machineHold{
		client: h.client, process: h.process, id: h.id, endedBy: h.EndCause(), called: h.First.Call, attempt: interval.Start(h.First), over: max(h.Latest(m.header.ToleranceNS+2*m.faults.Skew), a.until()),
		pieces: h.Pieces(m.last), under: m.touchedBy(h), returned: h.First.Return, fence: h.First.Fence, writes: m.writes[h],
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
	until := h.ServerUntil()
	if a.until() > until || a.called > over {
		over = min(over, until)
		if h.From == history.NoStamp {
			over = h.First.Call
		}
		m.times[k.name] = append(m.times[k.name], span{over, a.until(), its.under | lockbench.Outlived})
	}
	if r := h.ReleasedBy; r != nil && a.prolonged > r.Call {
		m.times[k.name] = append(m.times[k.name], span{r.Call, a.prolonged, its.under | lockbench.Outlived})
	}
}

// touchedBy returns the conditions that touched h, which no event can change any more.
func (m *Machine) touchedBy(h *hold) lockbench.Conditions {
	under := m.touching(h)
	if h.under.Has(pending.Died) && m.lastDeath[h.process]-m.deaths[h.client] > int64(sameDeath) { // its process lived on for a time
		under |= lockbench.ThreadDeath
	}
	return under
}

// sameDeath is the longest time in which the clients of a process are taken to die at once.
const sameDeath = 10 * time.Millisecond

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
