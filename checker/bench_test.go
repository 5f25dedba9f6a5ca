package checker

import (
	"fmt"
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// BenchmarkSweep measures one grant: an acquire, a read, a write and a release,
// among 32 clients on 16 keys, with a refusal for every second grant.
func BenchmarkSweep(b *testing.B) {
	events, grants := busyHistory(20_000)
	c := New(history.Header{Claims: lockbench.Claims{Keeps: []lockbench.Guarantee{lockbench.Exclusion}}})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%grants == 0 {
			c = New(history.Header{})
		}
		for _, ev := range events[i%grants] {
			c.Add(ev)
		}
	}
}

// busyHistory returns the events of n grants, a slice per grant.
func busyHistory(n int) ([][]history.Event, int) {
	var all [][]history.Event
	for i := range int64(n) {
		key, client := fmt.Sprint("item-", i%16), int32(i%32)
		at := i * 100
		op := func(kind history.Kind, outcome history.Outcome, client int32, call int64) *history.Op {
			return &history.Op{Kind: kind, Outcome: outcome, Client: client, Stream: client, Key: key, Hold: i + 1,
				Call: at + call, Return: at + call + 5, Attempt: at + call, Granted: 1e9, Wait: 1e6, Version: uint64(i + 1), Base: uint64(i)}
		}
		acquire, read := op(history.Acquire, history.OK, client, 0), op(history.Read, history.OK, client, 10)
		refused := op(history.Acquire, history.Refused, client+1, 20)
		refused.Hold = 0
		write, release := op(history.Write, history.OK, client, 40), op(history.Release, history.OK, client, 60)
		var events []history.Event
		for _, o := range []*history.Op{acquire, read, refused, write, release} {
			if o != refused || i%2 == 0 {
				events = append(events, history.Event{Phase: history.Call, Op: o}, history.Event{Phase: history.Return, Op: o})
			}
		}
		all = append(all, events)
	}
	return all, n
}

// BenchmarkParallel is BenchmarkSweep shared by two goroutines, beside this one.
func BenchmarkParallel(b *testing.B) {
	events, grants := busyHistory(20_000)
	p := newParallel(history.Header{}, 2)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%grants == 0 {
			p.finish(history.End{})
			p = newParallel(history.Header{}, 2)
		}
		for _, ev := range events[i%grants] {
			p.add(ev)
		}
	}
	p.finish(history.End{})
}
