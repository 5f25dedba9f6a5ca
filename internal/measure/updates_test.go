package measure

import (
	"testing"

	"github.com/lockbench/lockbench/history"
)

func TestLostUpdates(t *testing.T) {
	write := func(key string, base uint64, o history.Outcome) *history.Op {
		return &history.Op{Kind: history.Write, Outcome: o, Key: key, Base: base}
	}
	for _, c := range []struct {
		name string
		ops  []*history.Op
		want int64
	}{
		{"one after another", []*history.Op{write("a", 1, history.OK), write("a", 2, history.OK)}, 0},
		{"two on one version", []*history.Op{write("a", 1, history.OK), write("a", 1, history.OK)}, 1},
		{"one of them later", []*history.Op{write("a", 1, history.OK), write("a", 2, history.OK), write("a", 1, history.OK)}, 1},
		{"three", []*history.Op{write("a", 1, history.OK), write("a", 1, history.OK), write("a", 1, history.OK)}, 2},
		{"of two records", []*history.Op{write("a", 1, history.OK), write("b", 1, history.OK)}, 0},
		{"refused", []*history.Op{write("a", 1, history.OK), write("a", 1, history.Failed)}, 0},
		{"not known to be done", []*history.Op{write("a", 1, history.Unknown), write("a", 1, history.OK)}, 0},
		{"decided on nothing", []*history.Op{write("a", 0, history.OK), write("a", 0, history.OK)}, 0},
		{"reads", []*history.Op{{Kind: history.Read, Outcome: history.OK, Key: "a", Base: 1}, write("a", 1, history.OK)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(history.Header{})
			for _, op := range c.ops {
				m.Add(history.Event{Phase: history.Return, Op: op})
			}
			if got := m.Result(history.End{}).LostUpdates; got != c.want {
				t.Errorf("got %d lost updates, want %d", got, c.want)
			}
		})
	}
}
