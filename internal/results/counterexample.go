package results

import (
	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// A Counterexample is a counterexample: it shows one violation. Stamps are ns since the start of the
// run; nil stands for "never" or "not known".
type Counterexample struct {
	Key      string `json:"key"`
	Sentence string `json:"sentence"`
	// Breaks are the guarantees of which one at least is broken, the likeliest first.
	Breaks   []lockbench.Guarantee `json:"breaks,omitempty"`
	MarginNS int64                 `json:"margin_ns"`
	Holds    []Hold                `json:"holds"`
	Ops      []Op                  `json:"ops"`
}

// A Hold is one grant of a counterexample, in the terms of the checker.
type Hold struct {
	Hold    int64 `json:"hold"`
	Client  int32 `json:"client"`
	Process int32 `json:"process"`
	// FromNS is the start of validity, GrantedNS the return of the acquire,
	// UntilNS the end of validity, EndNS the end of the core.
	FromNS    *int64 `json:"from_ns,omitempty"`
	GrantedNS int64  `json:"granted_ns"`
	UntilNS   *int64 `json:"until_ns,omitempty"`
	EndNS     *int64 `json:"end_ns,omitempty"`
	EndedBy   string `json:"ended_by"`
}

// An Op is one operation of a counterexample: what was asked, what was answered. It is flat, as
// the JSON object that it is written as.
type Op struct {
	Kind     history.Kind    `json:"kind"`
	Outcome  history.Outcome `json:"outcome"`
	Late     bool            `json:"late,omitempty"`
	Client   int32           `json:"client"`
	Process  int32           `json:"process"`
	Hold     int64           `json:"hold"`
	CallNS   int64           `json:"call_ns"`
	ReturnNS *int64          `json:"return_ns,omitempty"`
	Attempts int32           `json:"attempts,omitempty"`
	// AttemptNS is the start of the attempt that succeeded.
	AttemptNS *int64 `json:"attempt_ns,omitempty"`
	AskedNS   int64  `json:"asked_ns,omitempty"`
	GrantedNS int64  `json:"granted_ns,omitempty"`
	DelayNS   int64  `json:"delay_ns,omitempty"`
	Fence     uint64 `json:"fence,omitempty"`
	Value     int64  `json:"value,omitempty"`
	Version   uint64 `json:"version,omitempty"`
	Base      uint64 `json:"base,omitempty"`
	Note      string `json:"note,omitempty"`
}

// NewCounterexample is w as results keep it, nil for nil.
func NewCounterexample(w *checker.Counterexample) *Counterexample {
	if w == nil {
		return nil
	}
	out := &Counterexample{
		Key: w.Key, Sentence: w.Sentence, Breaks: w.Breaks, MarginNS: int64(w.Margin),
		Holds: make([]Hold, 0, len(w.Holds)), Ops: make([]Op, 0, len(w.Ops)),
	}
	for _, h := range w.Holds {
		out.Holds = append(out.Holds, newHold(h))
	}
	for i := range w.Ops {
		out.Ops = append(out.Ops, newOp(&w.Ops[i]))
	}
	return out
}

func newHold(h checker.CounterexampleHold) Hold {
	return Hold{
		Hold: h.Hold, Client: h.Client, Process: h.Process,
		FromNS: stamp(h.From), GrantedNS: h.Granted, UntilNS: stamp(h.Until),
		EndNS: stamp(h.End), EndedBy: h.EndedBy,
	}
}

func newOp(o *history.Op) Op {
	return Op{
		Kind: o.Kind, Outcome: o.Outcome, Late: o.Late,
		Client: o.Client, Process: o.Process, Hold: o.Hold,
		CallNS: o.Call, ReturnNS: stamp(o.Return),
		Attempts: o.Attempts, AttemptNS: attempt(o),
		AskedNS: o.Asked, GrantedNS: o.Granted, DelayNS: o.Delay,
		Fence: o.Fence, Value: o.Value, Version: o.Version, Base: o.Base, Note: o.Note,
	}
}

// attempt prints the start of the successful attempt for grants alone: elsewhere
// the zero value means nothing.
func attempt(o *history.Op) *int64 {
	if o.Kind != history.Acquire || o.Outcome != history.OK {
		return nil
	}
	return stamp(o.Attempt)
}

// stamp is nil where ns means "never" or "not known": those sentinels lie beyond
// what a JSON reader can keep exact.
func stamp(ns int64) *int64 {
	if ns == history.NoStamp || ns == history.Never {
		return nil
	}
	return &ns
}
