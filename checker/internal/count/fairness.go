package count

import (
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
)

// Fairness measures how evenly the keys of one history are granted: how many grants each client
// had, and how long clients waited while the key was granted to others that had asked later. It is
// no verdict. The zero Fairness has measured nothing. Of clients that died only the numbers of
// grants are kept, so that memory grows with the clients that live.
type Fairness struct {
	// Omit reports whether a client is left out; nil leaves out none.
	Omit func(client int32) bool

	grants map[int32]int64
	dead   map[int64]int64 // by number of grants: how many dead clients had it
	waitStats
}

// waitStats are the longest waits of acquires.
type waitStats struct {
	waits    int64
	maxWait  int64 // ns, over acquires that were granted or refused
	bypassed int64 // most grants to later callers during one wait
}

// Figures are the results of a measurement.
type Figures struct {
	Clients, Grants int64
	Jain            float64
	Waits           int64
	MaxWait         time.Duration
	MaxBypassed     int64
}

// Granted notes a grant to client.
func (m *Fairness) Granted(client int32) { m.add(client, 1) }

// Requested notes a client that called acquire: without grants, its share is zero.
func (m *Fairness) Requested(client int32) { m.add(client, 0) }

func (m *Fairness) add(client int32, grants int64) {
	if m.Omit != nil && m.Omit(client) {
		return
	}
	if m.grants == nil {
		m.grants = map[int32]int64{}
	}
	m.grants[client] += grants
}

// Figures returns the results so far. Its Jain is Jain's fairness index over the numbers of grants of the
// clients: 1 if all clients got equally many, 1/n if one of n clients got all (Jain, Chiu and Hawe, 1984).
func (m *Fairness) Figures() Figures {
	f := Figures{Waits: m.waits, MaxWait: time.Duration(m.maxWait), MaxBypassed: m.bypassed}
	var squares float64
	for n, clients := range m.each {
		f.Clients += clients
		f.Grants += clients * n
		squares += float64(clients) * float64(n) * float64(n)
	}
	if squares > 0 {
		sum := float64(f.Grants)
		f.Jain = math.Round(1000*sum*sum/(float64(f.Clients)*squares)) / 1000
	}
	return f
}

// Shares returns the number of grants of each client, rising, thinned.
func (m *Fairness) Shares() []int64 {
	var all []int64
	for n, clients := range m.each {
		for range clients {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return Thinned(all)
}

// Thinned returns all, or 128 of them, evenly chosen, the first and the last among them.
func Thinned(all []int64) []int64 {
	const most = 128
	if len(all) <= most {
		return all
	}
	chosen := make([]int64, most)
	for i := range chosen {
		chosen[i] = all[i*(len(all)-1)/(most-1)]
	}
	return chosen
}

// Retire adds the grants of a client to the grants of dead clients, which are kept without names.
func (m *Fairness) Retire(client int32) {
	n, known := m.grants[client]
	if !known {
		return
	}
	if m.dead == nil {
		m.dead = map[int64]int64{}
	}
	m.dead[n]++
	delete(m.grants, client)
}

// each yields numbers of grants, with the number of clients that had so many.
func (m *Fairness) each(yield func(grants, clients int64) bool) {
	for _, n := range m.grants {
		if !yield(n, 1) {
			return
		}
	}
	for n, clients := range m.dead {
		if !yield(n, clients) {
			return
		}
	}
}

// Absorb adds the measurements on other keys of the same history. No client may have died.
func (m *Fairness) Absorb(o *Fairness) {
	for client, n := range o.grants {
		m.add(client, n)
	}
	m.waits += o.waits
	m.maxWait = max(m.maxWait, o.maxWait)
	m.bypassed = max(m.bypassed, o.bypassed)
}

// Clear resets m but keeps its memory.
func (m *Fairness) Clear() {
	clear(m.grants)
	clear(m.dead)
	m.waitStats = waitStats{}
}

// A Queue has the clients that wait for one key.
type Queue struct{ waiting []waiter }

// A waiter is an acquire under way, with the number of grants to later callers since it was called.
type waiter struct {
	op       *history.Op
	bypassed int64
}

// Called applies the call of acquire op.
func (q *Queue) Called(op *history.Op) {
	if op.Wait > 0 && op.Return != history.Never { // one that never returns has no known wait
		q.waiting = append(q.waiting, waiter{op: op})
	}
}

// Returned applies the return of acquire op. A grant is counted for each waiter that had called
// before op; the wait of op itself is measured.
func (q *Queue) Returned(op *history.Op, m *Fairness) {
	if op.Outcome == history.OK {
		for i := range q.waiting {
			if w := &q.waiting[i]; w.op.Call < op.Call {
				w.bypassed++
			}
		}
	}
	i := slices.IndexFunc(q.waiting, func(w waiter) bool { return w.op == op })
	if i < 0 {
		return
	}
	if m.Omit == nil || !m.Omit(op.Client) {
		m.waits++
		m.maxWait = max(m.maxWait, op.Return-op.Call)
		m.bypassed = max(m.bypassed, q.waiting[i].bypassed)
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
}

// Empty returns an empty queue that uses the memory of q.
func (q *Queue) Empty() Queue { return Queue{waiting: q.waiting[:0]} }
