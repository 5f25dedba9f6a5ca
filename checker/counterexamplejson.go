package checker

import (
	"encoding/json"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// jsonCounterexample is the JSON form of a Counterexample. A stamp that is not known, or never
// comes, is left out: the numbers that stand for these are beyond the integers that JSON readers
// keep exact.
type jsonCounterexample struct {
	Key      string                `json:"key"`
	Sentence string                `json:"sentence"`
	Breaks   []lockbench.Guarantee `json:"breaks,omitempty"`
	MarginNS int64                 `json:"margin_ns"`
	Holds    []jsonHold            `json:"holds"`
	Ops      []jsonOp              `json:"ops"`
}

type jsonHold struct {
	Hold      int64  `json:"hold"`
	Client    int32  `json:"client"`
	Process   int32  `json:"process"`
	FromNS    *int64 `json:"from_ns,omitempty"`
	GrantedNS int64  `json:"granted_ns"`
	UntilNS   *int64 `json:"until_ns,omitempty"`
	EndNS     *int64 `json:"end_ns,omitempty"`
	EndedBy   string `json:"ended_by"`
}

type jsonOp struct {
	Kind      history.Kind    `json:"kind"`
	Outcome   history.Outcome `json:"outcome"`
	Late      bool            `json:"late,omitempty"`
	Client    int32           `json:"client"`
	Process   int32           `json:"process"`
	Hold      int64           `json:"hold"`
	CallNS    int64           `json:"call_ns"`
	ReturnNS  *int64          `json:"return_ns,omitempty"`
	Attempts  int32           `json:"attempts,omitempty"`
	AttemptNS *int64          `json:"attempt_ns,omitempty"` // of grants alone
	AskedNS   int64           `json:"asked_ns,omitempty"`
	GrantedNS int64           `json:"granted_ns,omitempty"`
	DelayNS   int64           `json:"delay_ns,omitempty"`
	Fence     uint64          `json:"fence,omitempty"`
	Value     int64           `json:"value,omitempty"`
	Version   uint64          `json:"version,omitempty"`
	Base      uint64          `json:"base,omitempty"`
	Note      string          `json:"note,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (w *Counterexample) MarshalJSON() ([]byte, error) {
	out := jsonCounterexample{
		Key: w.Key, Sentence: w.Sentence, Breaks: w.Breaks, MarginNS: int64(w.Margin),
		Holds: make([]jsonHold, 0, len(w.Holds)), Ops: make([]jsonOp, 0, len(w.Ops)),
	}
	for _, h := range w.Holds {
		out.Holds = append(out.Holds, jsonHold{
			Hold: h.Hold, Client: h.Client, Process: h.Process,
			FromNS: stamp(h.From), GrantedNS: h.Granted, UntilNS: stamp(h.Until),
			EndNS: stamp(h.End), EndedBy: h.EndedBy,
		})
	}
	for i := range w.Ops {
		o := &w.Ops[i]
		op := jsonOp{
			Kind: o.Kind, Outcome: o.Outcome, Late: o.Late,
			Client: o.Client, Process: o.Process, Hold: o.Hold,
			CallNS: o.Call, ReturnNS: stamp(o.Return), Attempts: o.Attempts,
			AskedNS: o.Asked, GrantedNS: o.Granted, DelayNS: o.Delay,
			Fence: o.Fence, Value: o.Value, Version: o.Version, Base: o.Base, Note: o.Note,
		}
		if o.Kind == history.Acquire && o.Outcome == history.OK {
			op.AttemptNS = stamp(o.Attempt)
		}
		out.Ops = append(out.Ops, op)
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *Counterexample) UnmarshalJSON(text []byte) error {
	var in jsonCounterexample
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*w = Counterexample{Key: in.Key, Sentence: in.Sentence, Breaks: in.Breaks, Margin: time.Duration(in.MarginNS)}
	for _, h := range in.Holds {
		w.Holds = append(w.Holds, CounterexampleHold{
			Hold: h.Hold, Client: h.Client, Process: h.Process,
			From: stampOr(h.FromNS, history.NoStamp), Granted: h.GrantedNS, Until: stampOr(h.UntilNS, history.Never),
			End: stampOr(h.EndNS, history.Never), EndedBy: h.EndedBy,
		})
	}
	for i := range in.Ops {
		o := &in.Ops[i]
		w.Ops = append(w.Ops, history.Op{
			Kind: o.Kind, Outcome: o.Outcome, Late: o.Late,
			Client: o.Client, Process: o.Process, Key: in.Key, Hold: o.Hold,
			Call: o.CallNS, Return: stampOr(o.ReturnNS, history.Never), Attempts: o.Attempts,
			Attempt: stampOr(o.AttemptNS, history.NoStamp),
			Asked:   o.AskedNS, Granted: o.GrantedNS, Delay: o.DelayNS,
			Fence: o.Fence, Value: o.Value, Version: o.Version, Base: o.Base, Note: o.Note,
		})
	}
	return nil
}

// stamp returns ns, nil where it is not known or never comes.
func stamp(ns int64) *int64 {
	if ns == history.NoStamp || ns == history.Never {
		return nil
	}
	return &ns
}

func stampOr(ns *int64, missing int64) int64 {
	if ns == nil {
		return missing
	}
	return *ns
}
