package runner

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
	"github.com/lockbench/lockbench/results"
)

// TestJudgedFigures checks the figures of two acquires that took 2 and 4 ms, within 10 ms.
func TestJudgedFigures(t *testing.T) {
	const ms = int64(time.Millisecond)
	c := measure.New(history.Header{})
	for i, took := range []int64{2 * ms, 4 * ms} {
		at := int64(i) * 5 * ms
		acquire := &history.Op{Kind: history.Acquire, Outcome: history.OK, Key: "k", Hold: int64(i + 1), Call: at, Return: at + took}
		c.Add(history.Event{Phase: history.Call, Op: acquire})
		c.Add(history.Event{Phase: history.Return, Op: acquire})
	}
	j := results.Judged{Measures: c.Result(history.End{Trailer: history.Trailer{EndNS: 10 * ms}})}
	for _, want := range []struct {
		operation  string
		percentile float64
		took       time.Duration
		measured   bool
	}{
		{"acquire", 50, 2 * time.Millisecond, true},
		{"acquire", 100, 4 * time.Millisecond, true},
		{"extend", 50, 0, false},
		{"shout", 50, 0, false},
	} {
		got, measured := j.Latency(want.operation, want.percentile)
		if measured != want.measured || (got-want.took).Abs() > want.took/100 {
			t.Errorf("%s at %v: got %v, %v; want %v, %v", want.operation, want.percentile, got, measured, want.took, want.measured)
		}
	}
	if got := j.GrantsPerSecond(); got != 200 {
		t.Errorf("got %v grants per second, want 200", got)
	}
}
