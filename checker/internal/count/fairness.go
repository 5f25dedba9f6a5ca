package count

import (
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
)

// Fairness measures how evenly a lock is handed out in one history, over all its keys: how many
// grants each client had, and how long clients waited while others were granted the key that they
// had asked for later. It judges nothing. Its zero value has
// measured nothing. Of a client that died only its grants are kept, so that memory grows
// with the clients that live.
type Fairness struct {
	// Omit says of which clients nothing is measured; nil is of none.
	Omit func(client int32) bool

	grants map[int32]int64
	dead   map[int64]int64 // of clients that died: how many were granted so much
	waitStats
}

// waitStats is how long acquires waited at most.
type waitStats struct {
	waits    int64
	maxWait  int64 // ns, over acquires that were granted or refused
	bypassed int64 // most grants to later callers during one wait
}

// Figures are the results of a measurement.
type Figures struct {
	Jain        float64
	Waits       int64
	MaxWait     time.Duration
	MaxBypassed int64
}

// Granted notes a grant to client.
func (m *Fairness) Granted(client int32) { m.add(client, 1) }

// Requested notes a client that may never be granted anything: it has its share of nothing.
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

// Figures returns what m comes to.
func (m *Fairness) Figures() Figures {
	return Figures{
		Jain: math.Round(m.jain()*1000) / 1000, Waits: m.waits,
		MaxWait: time.Duration(m.maxWait), MaxBypassed: m.bypassed,
	}
}

// jain is Jain's fairness index over the clients' grants: 1 when all got as
// many, 1/n when one of n got all (Jain, Chiu and Hawe, 1984).
func (m *Fairness) jain() float64 {
	var all, sum, squares float64
	for n, clients := range m.each {
		all += float64(clients)
		sum += float64(clients) * float64(n)
		squares += float64(clients) * float64(n) * float64(n)
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (all * squares)
}

// Shares are the grants of the clients, rising, thinned to 128 at most.
func (m *Fairness) Shares() []int64 {
	const most = 128
	var all []int64
	for n, clients := range m.each {
		for range clients {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	if len(all) <= most {
		return all
	}
	chosen := make([]int64, most)
	for i := range chosen {
		chosen[i] = all[i*(len(all)-1)/(most-1)]
	}
	return chosen
}

// Retire counts the grants of a client among those of crashed clients: which got how many does not
// matter.
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

// each yields grants, and how many clients had as many.
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

// Absorb adds what was measured on other keys, while no client had died.
func (m *Fairness) Absorb(o *Fairness) {
	for client, n := range o.grants {
		m.add(client, n)
	}
	m.waits += o.waits
	m.maxWait = max(m.maxWait, o.maxWait)
	m.bypassed = max(m.bypassed, o.bypassed)
}

// Clear forgets what was measured, but for the memory.
func (m *Fairness) Clear() {
	clear(m.grants)
	clear(m.dead)
	m.waitStats = waitStats{}
}

// A Queue is the clients that wait for one key.
type Queue struct{ waiting []waiter }

// A waiter is an acquire under way, and how many grants went to later callers meanwhile.
type waiter struct {
	op       *history.Op
	bypassed int64
}

// Called applies the call of acquire op.
func (q *Queue) Called(op *history.Op) {
	if op.Wait > 0 && op.Return != history.Never { // else nobody learns for how long
		q.waiting = append(q.waiting, waiter{op: op})
	}
}

// Returned applies the return of acquire op to those that wait for the same key, and
// measures its own wait.
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

// Empty returns a queue without waiters in the memory of q.
func (q *Queue) Empty() Queue { return Queue{waiting: q.waiting[:0]} }
