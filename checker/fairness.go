package checker

import (
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
)

// fairness measures how evenly the key was handed out. It judges nothing.
type fairness struct {
	grants   map[int32]int64
	dead     map[int64]int64 // of clients that died: how many were granted so much
	waits    int64
	maxWait  int64 // ns, over acquires that were granted or refused
	bypassed int64 // most grants to later callers during one wait
}

func newFairness() fairness { return fairness{grants: map[int32]int64{}} }

func (f *fairness) granted(client int32) { f.grants[client]++ }

// asked notes a client that may never be granted anything: it has its share of nothing.
func (f *fairness) asked(client int32) {
	if _, known := f.grants[client]; !known {
		f.grants[client] = 0
	}
}

// jain is Jain's fairness index over the clients' grants: 1 when all got as
// many, 1/n when one of n got all (Jain, Chiu and Hawe, 1984).
func (f *fairness) jain() float64 {
	var all, sum, squares float64
	for n, clients := range f.each {
		all += float64(clients)
		sum += float64(clients) * float64(n)
		squares += float64(clients) * float64(n) * float64(n)
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (all * squares)
}

// shares are the grants of the clients, rising, thinned to 128 at most.
func (f *fairness) shares() []int64 {
	const most = 128
	var all []int64
	for n, clients := range f.each {
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

// measured returns what f amounts to.
func (f *fairness) measured() Fairness {
	return Fairness{
		Jain: math.Round(f.jain()*1000) / 1000, Waits: f.waits,
		MaxWait: time.Duration(f.maxWait), MaxBypassed: f.bypassed,
	}
}

// retireClient counts the grants of a client among those of the dead: who got how many does not
// matter.
func (f *fairness) retireClient(client int32) {
	n, known := f.grants[client]
	if !known {
		return
	}
	if f.dead == nil {
		f.dead = map[int64]int64{}
	}
	f.dead[n]++
	delete(f.grants, client)
}

// each yields grants, and how many clients had as many.
func (f *fairness) each(yield func(grants, clients int64) bool) {
	for _, n := range f.grants {
		if !yield(n, 1) {
			return
		}
	}
	for n, clients := range f.dead {
		if !yield(n, clients) {
			return
		}
	}
}

// queue is who waits for one key.
type queue struct{ waiting []waiter }

type waiter struct {
	op       *history.Op
	bypassed int64
}

func (q *queue) join(op *history.Op) {
	if op.Wait > 0 && op.Return != history.Never { // else nobody learns for how long
		q.waiting = append(q.waiting, waiter{op: op})
	}
}

// waited applies the return of an acquire to those that wait for the same key.
func (c *Checker) waited(k *key, op *history.Op) {
	q := &k.queue
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
	c.fair.waits++
	c.fair.maxWait = max(c.fair.maxWait, op.Return-op.Call)
	c.fair.bypassed = max(c.fair.bypassed, q.waiting[i].bypassed)
	q.waiting = slices.Delete(q.waiting, i, i+1)
}
