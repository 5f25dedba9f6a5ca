package results

import (
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
)

func TestRefusalsAreCounted(t *testing.T) {
	stale := &history.Op{Kind: history.Write, Outcome: history.Failed, Note: history.Stale, Call: 1, Return: 2}
	other := &history.Op{Kind: history.Write, Outcome: history.Failed, Note: "timeout", Call: 1, Return: 2}
	for _, c := range []struct {
		op   *history.Op
		want int64
	}{{stale, 1}, {other, 0}} {
		collector := measure.New(history.Header{})
		collector.Add(history.Event{Phase: history.Return, Op: c.op})
		m := collector.Result(history.End{})
		if got := counts(&checker.Result{}, &m).Stale; got != c.want {
			t.Errorf("%s: %d refusals, want %d", c.op.Note, got, c.want)
		}
	}
}
