package explore

import (
	"testing"
	"testing/synctest"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls"
)

// TestProgressWhileShrinking checks that progress is told while counterexamples are made shorter, too:
// package locktest gives up a search that is silent.
func TestProgressWhileShrinking(t *testing.T) {
	all, err := impls.Match("setnx-getset/naive")
	if err != nil {
		t.Fatal(err)
	}
	cfg, program, err := (&Config{Design: all[0], Schedules: 2000}).resolve()
	if err != nil {
		t.Fatal(err)
	}
	var told, last int64 // how often the number of schedules was told that is the last one
	b := Bubble{Enter: func(body func()) { synctest.Test(t, func(*testing.T) { body() }) }, Wait: synctest.Wait}
	tell := func(p Progress) {
		if p.Schedules > last {
			told, last = 0, p.Schedules
		}
		told++
	}
	x := &explorer{cfg: cfg, program: program, bubble: b, tell: tell, failures: map[lockbench.Cell]failure{}}
	if err := x.enter(t.Context(), x.explore); err != nil {
		t.Fatal(err)
	}
	if n := len(x.result.Counterexamples); n == 0 || told < 10 {
		t.Errorf("%d counterexamples; told %d times after the last schedule, want once for each attempt to make one shorter", n, told)
	}
}
