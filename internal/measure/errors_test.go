package measure_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/measure"
)

const denied = "NOPERM this user has no permissions to run the 'evalsha' command"

// errorsOf are the errors of a history of these operations and events, each after the one
// before it.
func errorsOf(ops ...history.Op) []measure.Error {
	return errorsUnder([]string{"restart", "cut"}, ops...)
}

// errorsUnder are the same in a run with these faults.
func errorsUnder(faults []string, ops ...history.Op) []measure.Error {
	c := measure.New(history.Header{Faults: faults})
	for i := range ops {
		op := &ops[i]
		c.Add(history.Event{Phase: history.Call, Op: op})
		if op.Kind < history.Lost {
			c.Add(history.Event{Phase: history.Return, Op: op})
		}
	}
	m := c.Result(history.End{})
	return m.Errors
}

func TestErrors(t *testing.T) {
	release := func(client int32, at int64, note string) history.Op {
		return history.Op{Kind: history.Release, Outcome: history.Failed, Client: client, Call: at, Return: at + 5, Note: note}
	}
	fault := func(client int32, at int64, note string) history.Op {
		return history.Op{Kind: history.Fault, Client: client, Call: at, Return: at, Note: note}
	}
	for _, c := range []struct {
		name string
		ops  []history.Op
		want []measure.Error
	}{
		{"none", []history.Op{{Kind: history.Acquire, Outcome: history.Refused, Return: 1}, release(1, 2, ""), release(1, 3, history.Stale)}, nil},
		{"two kinds, the most frequent first", []history.Op{
			release(1, 0, "timeout: i/o timeout"), release(1, 10, "noperm"), release(2, 20, "noperm: "+denied), release(1, 30, ""),
		}, []measure.Error{
			{Op: history.Release, Kind: "NOPERM", Refusal: true, Count: 2, Of: 4, First: denied, At: 15},
			{Op: history.Release, Kind: "time-out", Count: 1, Of: 4, First: "i/o timeout", At: 5},
		}},
		{"old histories", []history.Op{release(1, 0, "canceled"), release(1, 10, "canceled")}, []measure.Error{
			{Op: history.Release, Kind: "cancelled by the run", Count: 2, Of: 2, At: 5},
		}},
		{"a fault of the client's call", []history.Op{
			fault(1, 2, "cut"), release(1, 0, "connection: EOF"), release(1, 10, "connection: EOF"), release(2, 20, "noperm: "+denied),
		}, []measure.Error{
			{Op: history.Release, Kind: "connection lost", Fault: "cut", Count: 1, Of: 3, First: "EOF", At: 5},
			{Op: history.Release, Kind: "connection lost", Count: 1, Of: 3, First: "EOF", At: 15},
			{Op: history.Release, Kind: "NOPERM", Refusal: true, Count: 1, Of: 3, First: denied, At: 25},
		}},
		{"a standstill, which is none", []history.Op{fault(-2, 0, "server-standstill"), release(1, 10, "timeout: i/o timeout")}, []measure.Error{
			{Op: history.Release, Kind: "time-out", Count: 1, Of: 1, First: "i/o timeout", At: 15},
		}},
		{"a fault of the server, which prolongs leases", []history.Op{
			fault(-1, 0, "leader-lost"), fault(-1, 1, "leases-prolonged"), release(1, 10, "timeout: i/o timeout"),
		}, []measure.Error{
			{Op: history.Release, Kind: "time-out", Fault: "leader-lost", Count: 1, Of: 1, First: "i/o timeout", At: 15},
		}},
		{"a fault of the server, of which a missing permission does not come", []history.Op{
			fault(-1, 0, "restart"), release(1, 10, "loading: LOADING Redis is loading the dataset in memory"), release(1, 20, "noperm: "+denied),
		}, []measure.Error{
			{Op: history.Release, Kind: "LOADING", Refusal: true, Fault: "restart", Count: 1, Of: 2, First: "LOADING Redis is loading the dataset in memory", At: 15},
			{Op: history.Release, Kind: "NOPERM", Refusal: true, Count: 1, Of: 2, First: denied, At: 25},
		}},
		{"shortly before a fault of the server is recorded, and long before", []history.Op{
			release(1, 0, "connection-refused: dial"), release(1, 2e9, "connection-refused: dial"), fault(-1, 2e9+10, "restart"), release(1, 5e9, "canceled: context canceled"),
		}, []measure.Error{
			{Op: history.Release, Kind: "connection refused", Count: 1, Of: 3, First: "dial", At: 5},
			{Op: history.Release, Kind: "connection refused", Fault: "restart", Count: 1, Of: 3, First: "dial", At: 2e9 + 5},
			{Op: history.Release, Kind: "cancelled by the run", Count: 1, Of: 3, First: "context canceled", At: 5e9 + 5},
		}},
		{"an incident of the user's server, which nobody injected", []history.Op{
			fault(-3, 0, "server-losing"), fault(-3, 0, "script-flush"), release(1, 10, "connection-refused: dial"),
			fault(-3, 20, "script-flush"), fault(-3, 21, "server-loss"), release(1, 30, "connection-refused: dial"),
		}, []measure.Error{
			{Op: history.Release, Kind: "connection refused", Count: 2, Of: 2, First: "dial", At: 15},
		}},
		{"a fault after such an incident", []history.Op{
			fault(-3, 0, "server-losing"), fault(-3, 1, "server-loss"), fault(-1, 2, "restart"), release(1, 10, "connection-refused: dial"),
		}, []measure.Error{
			{Op: history.Release, Kind: "connection refused", Fault: "restart", Count: 1, Of: 1, First: "dial", At: 15},
		}},
		{"cancelled by a fault", []history.Op{fault(1, 2, "cancel"), release(1, 0, "canceled: context canceled")}, []measure.Error{
			{Op: history.Release, Kind: "cancelled", Fault: "cancel", Count: 1, Of: 1, First: "context canceled", At: 5},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(errorsOf(c.ops...), c.want); diff != "" {
				t.Errorf("errors (-got +want):\n%s", diff)
			}
		})
	}
}

// TestErrorsAreBounded: kinds of errors beyond the bound are counted together.
// TestErrorsWithoutFaults: a connection that broke in a run without faults was broken by no injected
// one.
func TestErrorsWithoutFaults(t *testing.T) {
	got := errorsUnder(nil,
		history.Op{Kind: history.Fault, Client: 1, Call: 2, Return: 2, Note: "cut"},
		history.Op{Kind: history.Release, Outcome: history.Failed, Client: 1, Return: 5, Note: "connection: EOF"})
	want := []measure.Error{{Op: history.Release, Kind: "connection lost", Count: 1, Of: 1, First: "EOF", At: 5}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got, want:\n%s", diff)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	var ops []history.Op
	for i := range 20 {
		at := int64(10 * i)
		ops = append(ops, history.Op{Kind: history.Extend, Outcome: history.Unknown, Call: at, Return: at + 1, Note: fmt.Sprintf("code%c", 'a'+i)})
	}
	got := errorsOf(ops...)
	if len(got) != measure.MaxErrors+1 {
		t.Fatalf("%d kinds, want %d and the others", len(got), measure.MaxErrors)
	}
	if diff := cmp.Diff(got[0], measure.Error{Kind: measure.OtherErrors, Count: 4, Of: 20, At: 161}); diff != "" {
		t.Errorf("the others (-got +want):\n%s", diff)
	}
}
